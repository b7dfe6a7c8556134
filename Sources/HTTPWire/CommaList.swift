/// The members of a comma-separated field value, trimmed, empty ones skipped; for lists of tokens (no quoted strings).
///
/// ```swift
/// for option in CommaList(head[field.value]) { … }
/// ```
/// RFC 9110 §5.6.1
package struct CommaList: Sequence, IteratorProtocol {
  private var rest: UnsafeRawBufferPointer

  package init(_ value: UnsafeRawBufferPointer) {
    rest = value
  }

  package mutating func next() -> UnsafeRawBufferPointer? {
    while !rest.isEmpty {
      var end = 0
      while end < rest.count, rest[end] != UInt8(ascii: ",") { end += 1 }
      let member = rest.slice(0..<end).trimmingWhitespace()
      rest = rest.slice(Swift.min(end + 1, rest.count)..<rest.count)
      if !member.isEmpty { return member }
    }
    return nil
  }

  /// Whether `token` is a member, in any case.
  package func contains(caseInsensitively token: StaticString) -> Bool {
    for member in self where member.bytes(equalCaseInsensitively: token) { return true }
    return false
  }

  /// Whether `token` is a member, in any case.
  package func contains(caseInsensitively token: UnsafeRawBufferPointer) -> Bool {
    for member in self where member.bytes(equalCaseInsensitively: token) { return true }
    return false
  }
}
