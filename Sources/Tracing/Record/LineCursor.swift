/// Writes the fixed parts of a line into memory that is known to be large enough.
struct LineCursor {
  private let start: UnsafeMutableRawPointer
  private let capacity: Int
  private(set) var count = 0

  /// - Parameter room: at least as large as everything that will be written; a trap catches the mistake.
  init(_ room: UnsafeMutableRawBufferPointer) {
    guard let base = room.baseAddress else { preconditionFailure("no room was reserved") }
    start = base
    capacity = room.count
  }

  /// Inlined, so that a literal is a few stores.
  @inline(__always)
  mutating func put(_ literal: StaticString) {
    put(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  @inline(__always)
  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    precondition(bytes.count <= capacity - count, "the room reserved for a line was too small")
    guard let source = bytes.baseAddress else { return }
    (start + count).copyMemory(from: source, byteCount: bytes.count)
    count += bytes.count
  }

  mutating func put(_ id: RequestID) {
    precondition(RequestID.characterCount <= capacity - count, "the room reserved for a line was too small")
    id.write(to: UnsafeMutableRawBufferPointer(start: start + count, count: RequestID.characterCount))
    count += RequestID.characterCount
  }

  mutating func put(decimal value: UInt64) {
    if value < 10 { return put(digitsOf: value, count: 1) }
    var digitCount = 2
    var bound: UInt64 = 100
    while value >= bound, digitCount < 19 {
      bound *= 10
      digitCount += 1
    }
    if value >= 10_000_000_000_000_000_000 { digitCount = 20 }
    put(digitsOf: value, count: digitCount)
  }

  /// Milliseconds with up to three decimals.
  mutating func put(milliseconds nanoseconds: UInt64) {
    let (whole, micro) = (nanoseconds / 1_000).quotientAndRemainder(dividingBy: 1_000)
    put(decimal: whole)
    guard micro > 0 else { return }
    put(".")
    if micro % 100 == 0 {
      put(digitsOf: micro / 100, count: 1)
    } else if micro % 10 == 0 {
      put(digitsOf: micro / 10, count: 2)
    } else {
      put(digitsOf: micro, count: 3)
    }
  }

  private mutating func put(digitsOf value: UInt64, count digitCount: Int) {
    precondition(digitCount <= capacity - count, "the room reserved for a line was too small")
    var rest = value
    var place = count &+ digitCount
    while place > count {
      place &-= 1
      let quotient = rest / 10
      (start + place).storeBytes(of: 0x30 &+ UInt8(truncatingIfNeeded: rest &- quotient &* 10), as: UInt8.self)
      rest = quotient
    }
    count += digitCount
  }
}
