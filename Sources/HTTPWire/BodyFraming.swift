/// How the end of a message's content is known. RFC 9112 §6.3
package enum BodyFraming: Equatable, Sendable {
  /// No content follows the head.
  case none
  /// Exactly this many bytes follow (`Content-Length`, 0 included).
  case length(UInt64)
  case chunked
  /// Content runs until the connection closes; only in responses.
  case untilClose
}
