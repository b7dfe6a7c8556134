/// How the end of a message's content is known. RFC 9112 §6.3
@usableFromInline
package enum BodyFraming: Equatable, Sendable {
  /// No content follows the head.
  case none
  /// Exactly this many bytes follow (`Content-Length`, 0 included).
  case length(UInt64)
  case chunked
  /// Content runs until the connection closes; only in responses.
  case untilClose

  /// Whether the message ends with its head.
  @inlinable
  package var isEmpty: Bool {
    switch self {
    case .none: true
    case .length(let count): count == 0
    case .chunked, .untilClose: false
    }
  }
}
