/// A set of ASCII bytes as two words, so that membership costs a shift and no table in memory.
struct ByteSet: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  init(_ ranges: ClosedRange<UInt8>..., without excluded: StaticString = "") {
    for range in ranges {
      for byte in range { insert(byte) }
    }
    for index in 0..<excluded.utf8CodeUnitCount { remove(excluded.utf8Start[index]) }
  }

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    let word = byte < 64 ? low : byte < 128 ? high : 0
    return word >> UInt64(byte & 63) & 1 == 1
  }

  private mutating func insert(_ byte: UInt8) {
    if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte & 63) }
  }

  private mutating func remove(_ byte: UInt8) {
    if byte < 64 { low &= ~(1 << UInt64(byte)) } else { high &= ~(1 << UInt64(byte & 63)) }
  }
}
