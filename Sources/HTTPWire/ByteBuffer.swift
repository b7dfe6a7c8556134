/// A growable queue of bytes: written at the tail, read and consumed at the front.
///
/// Storage is one heap block, allocated at the first write and freed by `release()` or at the end of life. How large a
/// buffer may grow is the caller's decision. Pointers handed out by `reserve` are good until the next mutation.
///
/// ```swift
/// var out = ByteBuffer()
/// out.append("HTTP/1.1 ")
/// out.append(decimal: 204)
/// out.append(" \r\n\r\n")
/// ```
@usableFromInline
package struct ByteBuffer: ~Copyable {
  /// The smallest block allocated, in bytes.
  package static let capacityMin = 512
  static let alignment = MemoryLayout<UInt64>.alignment

  @usableFromInline var storage: UnsafeMutableRawPointer?
  @usableFromInline var readOffset = 0
  @usableFromInline var writeOffset = 0
  /// Bytes allocated.
  @usableFromInline package internal(set) var capacity = 0

  package init() {}

  deinit { storage?.deallocate() }

  /// Bytes written and not yet consumed.
  @inlinable package var count: Int { writeOffset - readOffset }
  @inlinable package var isEmpty: Bool { writeOffset == readOffset }

  /// Calls `body` with the readable bytes.
  @inlinable
  package func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    guard let storage else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
    return try body(UnsafeRawBufferPointer(start: storage + readOffset, count: count))
  }

  /// Makes room and returns the writable tail, at least `byteCount` bytes; `commit` makes what was written readable.
  @inlinable
  package mutating func reserve(_ byteCount: Int) -> UnsafeMutableRawBufferPointer {
    precondition(byteCount >= 0)
    if capacity - writeOffset < byteCount { makeRoom(byteCount) }
    guard let storage else { return UnsafeMutableRawBufferPointer(start: nil, count: 0) }
    return UnsafeMutableRawBufferPointer(start: storage + writeOffset, count: capacity - writeOffset)
  }

  /// Makes the first `byteCount` bytes of the reserved tail readable.
  @inlinable
  package mutating func commit(_ byteCount: Int) {
    precondition(byteCount >= 0 && byteCount <= capacity - writeOffset)
    writeOffset += byteCount
  }

  /// Drops `byteCount` bytes at the front. Bytes are moved only when room is next needed.
  @inlinable
  package mutating func consume(_ byteCount: Int) {
    precondition(byteCount >= 0 && byteCount <= count)
    readOffset += byteCount
    if readOffset == writeOffset {
      readOffset = 0
      writeOffset = 0
    }
  }

  /// Drops all bytes and keeps the storage.
  @inlinable
  package mutating func removeAll() {
    readOffset = 0
    writeOffset = 0
  }

  /// Drops all bytes and frees the storage: for a connection that goes idle.
  package mutating func release() {
    removeAll()
    storage?.deallocate()
    storage = nil
    capacity = 0
  }

  /// Moves the live bytes to the front when at least half the block is free head, else doubles the block: each byte is
  /// moved a bounded number of times on average.
  @usableFromInline
  mutating func makeRoom(_ byteCount: Int) {
    let live = count
    let (needed, overflow) = live.addingReportingOverflow(byteCount)
    precondition(!overflow)
    if let storage, readOffset >= live, capacity - live >= byteCount, readOffset > 0 {
      storage.copyMemory(from: storage + readOffset, byteCount: live)
      readOffset = 0
      writeOffset = live
    } else {
      move(to: max(ByteBuffer.capacityMin, needed, capacity > Int.max / 2 ? needed : capacity * 2))
    }
  }

  /// Makes the block this large if it is smaller: for whoever counts blocks, or knows what will come.
  package mutating func grow(to byteCount: Int) {
    if byteCount > capacity { move(to: byteCount) }
  }

  private mutating func move(to grown: Int) {
    let live = count
    let block = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: Self.alignment)
    if let storage {
      block.copyMemory(from: storage + readOffset, byteCount: live)
      storage.deallocate()
    }
    storage = block
    capacity = grown
    readOffset = 0
    writeOffset = live
  }
}

extension ByteBuffer {
  @inlinable @inline(__always)
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    if capacity - writeOffset < bytes.count { makeRoom(bytes.count) }
    guard let storage else { return }
    (storage + writeOffset).copyMemory(from: source, byteCount: bytes.count)
    writeOffset += bytes.count
  }

  /// Inlined, so that a literal is a few stores.
  @inlinable @inline(__always)
  package mutating func append(_ literal: StaticString) {
    precondition(literal.hasPointerRepresentation)
    append(UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  package mutating func append(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// Appends the UTF-8 of `text`.
  @_disfavoredOverload
  package mutating func append(_ text: some StringProtocol) {
    if text.utf8.withContiguousStorageIfAvailable({ append(UnsafeRawBufferPointer($0)) }) == nil {
      for byte in text.utf8 { append(byte: byte) }
    }
  }

  @inlinable
  package mutating func append(byte: UInt8) {
    if capacity == writeOffset { makeRoom(1) }
    guard let storage else { return }
    storage.storeBytes(of: byte, toByteOffset: writeOffset, as: UInt8.self)
    writeOffset += 1
  }

  /// Appends the decimal digits of `value`.
  package mutating func append(decimal value: UInt64) {
    append(value, radix: 10)
  }

  /// Appends `value` in lower-case hexadecimal, without leading zeros: a chunk size.
  package mutating func append(hex value: UInt64) {
    append(value, radix: 16)
  }

  @inline(__always)
  private mutating func append(_ value: UInt64, radix: UInt64) {
    var digitCount = 1
    var rest = value
    while rest >= radix {
      rest /= radix
      digitCount += 1
    }
    let tail = reserve(digitCount)
    rest = value
    for position in stride(from: digitCount - 1, through: 0, by: -1) {
      let digit = UInt8(truncatingIfNeeded: rest % radix)
      tail[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      rest /= radix
    }
    writeOffset += digitCount
  }

  /// A copy of the readable bytes.
  package func copy() -> [UInt8] {
    withUnsafeBytes { Array($0) }
  }
}
