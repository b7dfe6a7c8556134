/// A run of bytes in a head's buffer, as an offset and a length.
@usableFromInline
package struct ByteRange: Sendable, Equatable {
  @usableFromInline package var start: UInt32
  @usableFromInline package var count: UInt32

  @inlinable
  package init(start: UInt32, count: UInt32) {
    self.start = start
    self.count = count
  }

  @inlinable
  package init(_ range: Range<Int>) {
    start = UInt32(range.lowerBound)
    count = UInt32(range.count)
  }

  @inlinable package var isEmpty: Bool { count == 0 }
  @inlinable package var range: Range<Int> { Int(start)..<Int(start) + Int(count) }
}

extension UnsafeRawBufferPointer {
  /// The bytes of `range`.
  @inlinable @inline(__always)
  package subscript(_ range: ByteRange) -> UnsafeRawBufferPointer {
    let start = Int(range.start)
    let count = Int(range.count)
    precondition(start + count <= self.count)
    guard let baseAddress else { return self }
    return UnsafeRawBufferPointer(start: baseAddress + start, count: count)
  }

  /// The bytes of `range`, as a buffer of their own.
  @inlinable @inline(__always)
  package func slice(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    guard let baseAddress else { return self }
    return UnsafeRawBufferPointer(start: baseAddress + range.lowerBound, count: range.count)
  }

  /// Whether the bytes are `literal` exactly.
  package func bytes(equal literal: StaticString) -> Bool {
    guard count == literal.utf8CodeUnitCount else { return false }
    let other = literal.utf8Start
    for index in 0..<count where self[index] != other[index] { return false }
    return true
  }

  /// Whether the bytes are `literal` but for the case of ASCII letters.
  package func bytes(equalCaseInsensitively literal: StaticString) -> Bool {
    bytes(
      equalCaseInsensitively: UnsafeRawBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
  }

  /// Whether the bytes are `other` but for the case of ASCII letters.
  package func bytes(equalCaseInsensitively other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    for index in 0..<count where ASCII.lowercased(self[index]) != ASCII.lowercased(other[index]) { return false }
    return true
  }

  /// Whether the bytes begin with `literal` but for the case of ASCII letters.
  package func bytes(startCaseInsensitivelyWith literal: StaticString) -> Bool {
    let length = literal.utf8CodeUnitCount
    return count >= length && slice(0..<length).bytes(equalCaseInsensitively: literal)
  }

  /// The bytes without SP and HTAB at both ends. RFC 9110 §5.6.3
  package func trimmingWhitespace() -> UnsafeRawBufferPointer {
    var start = 0
    var end = count
    while start < end, ASCII.isWhitespace(self[start]) { start += 1 }
    while end > start, ASCII.isWhitespace(self[end - 1]) { end -= 1 }
    return slice(start..<end)
  }
}
