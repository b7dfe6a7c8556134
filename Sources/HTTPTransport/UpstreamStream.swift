package import HTTPWire

/// Why an upstream exchange ended without a whole response.
package enum UpstreamFailure: Error, Sendable, Equatable {
  /// No connection: refused, no route, no such name.
  case unreachable(String)
  /// The process has no file descriptor left for a connection: none was tried.
  case outOfDescriptors
  /// The TLS handshake or the certificate.
  case tls(String)
  case connectTimeout
  /// The upstream did not take the request, begin its response or go on with it in time.
  case responseTimeout
  /// The connection ended before the response did.
  case closed
  /// The response broke the protocol in a way that is refused, never repaired.
  case violation(ResponseViolation)
}

/// How a response broke HTTP.
package enum ResponseViolation: Sendable, Equatable {
  case head(HeadViolation)
  case chunk(ChunkViolation)
  /// A 101 that nobody asked for (RFC 9110 §15.2.2).
  case unexpectedSwitch
  /// More 1xx heads than anybody needs.
  case tooManyInterim
  /// Bytes that belong to no request: the start of a split response.
  case unexpectedBytes

  package var detail: StaticString {
    switch self {
    case .head(let violation): violation.detail
    case .chunk(let violation): violation.detail
    case .unexpectedSwitch: "The upstream switched protocols without being asked."
    case .tooManyInterim: "The upstream sent too many interim responses."
    case .unexpectedBytes: "The upstream sent bytes that belong to no request."
    }
  }
}

/// What may be concluded about a request whose connection died (design §4.6, RFC 9110 §9.2.2).
package struct SendProgress: Sendable, Equatable {
  /// The connection had served another request before.
  package var reused: Bool
  /// The kernel took at least one byte of the request.
  package var wroteBytes: Bool
  /// At least one response byte came.
  package var receivedBytes: Bool

  /// Whether sending the request once more, on a fresh connection, cannot make it happen twice.
  package func isResendSafe(methodIsIdempotent: Bool) -> Bool {
    reused && !receivedBytes && (!wroteBytes || methodIsIdempotent)
  }
}

/// One request to an upstream and its response, whatever carries it. HTTP/1.1 connections are one stream at a time.
package protocol UpstreamStream: AnyObject {
  /// Whether a head may be sent now; otherwise `streamReady` comes.
  var isReady: Bool { get }
  var isReused: Bool { get }
  var progress: SendProgress { get }
  /// Whether body bytes may be sent now; otherwise `streamDrained` comes.
  var takesMore: Bool { get }
  /// Writes head bytes made by `compose`, and `body` behind them in the same write where it is small.
  ///
  /// - Parameter methodIsHEAD: an answer to HEAD has no body, whatever its fields say (RFC 9112 §6.3).
  func send(methodIsHEAD: Bool, body: UnsafeRawBufferPointer?, compose: (inout ByteBuffer) -> Void)
  /// Writes framed body bytes, or holds few of them until the round has been worked on.
  ///
  /// - Returns: false when the caller must wait for `streamDrained`.
  func sendBody(_ bytes: UnsafeRawBufferPointer) -> Bool
  func sendBody(compose: (inout ByteBuffer) -> Void) -> Bool
  /// The request is complete.
  func finishSending()
  func pauseReading()
  func resumeReading()
  /// Gives the stream up; the connection under it is closed unless both messages were complete.
  func cancel()
}

/// What an exchange hears of its stream. Byte ranges are valid during the call only.
package protocol UpstreamStreamDelegate: AnyObject {
  func streamReady(_ stream: any UpstreamStream)
  /// A 1xx head other than 101.
  func stream(_ stream: any UpstreamStream, receivedInformational status: UInt16)
  func stream(
    _ stream: any UpstreamStream, received head: ResponseHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable)
  func stream(_ stream: any UpstreamStream, receivedBody bytes: UnsafeRawBufferPointer)
  /// The trailer lines behind a chunked body, with the empty one; without the fields that are the connection's own.
  /// The end follows.
  func stream(_ stream: any UpstreamStream, receivedTrailers bytes: UnsafeRawBufferPointer, fields: FieldTable)
  /// The response is complete; the stream must not be used again.
  func streamReceivedEnd(_ stream: any UpstreamStream)
  func streamDrained(_ stream: any UpstreamStream)
  /// The last call when the response did not become whole.
  func streamFailed(_ stream: any UpstreamStream, _ failure: UpstreamFailure)
}
