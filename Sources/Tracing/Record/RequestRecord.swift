/// What the log says about one exchange. Whatever is not a field here is not logged.
///
/// ```swift
/// var record = RequestRecord(id: log.nextID(), wallNanoseconds: time.wallNanoseconds)
/// record.subject = route.subject
/// record.target = target  // bytes of the request head
/// record.status = 200
/// record.source = .upstream
/// log.append(record)
/// ```
/// The bytes it points to must stay until it is appended; it is made where the exchange ends and not kept. Fields left
/// `nil` are not written.
package struct RequestRecord: ~Copyable {
  package enum Event: Sendable {
    /// A request that came to the gateway.
    case request
    /// A call to an authorization server.
    case oauth
  }

  /// Who answered.
  package enum Source: Sendable {
    case upstream
    case gateway
  }

  package let id: RequestID
  /// When the exchange ended, so that lines stand in the order of their times (`CLOCK_REALTIME`).
  package let wallNanoseconds: Int64
  package let event: Event
  package var subject: RecordSubject?
  package var caller: LogLabel?
  /// As the caller sent it; any bytes.
  package var method: UnsafeRawBufferPointer?
  /// As the caller sent it, or for a token-endpoint call its path; any bytes. It is redacted while it is written.
  package var target: UnsafeRawBufferPointer?
  /// As the caller saw it, 499 if the caller left.
  package var status: UInt16?
  package var source: Source?
  package var durationNanoseconds: UInt64 = 0
  /// From the first byte sent upstream to the last byte received.
  package var upstreamNanoseconds: UInt64?
  /// Bytes of the request body.
  package var requestBytes: UInt64 = 0
  /// Bytes of the response body.
  package var responseBytes: UInt64 = 0
  /// How often the request was sent upstream.
  package var attempts: UInt8 = 0
  package var auth = AuthEvents()
  /// Whether the upstream connection had served before.
  package var reused: Bool?
  /// The code of the gateway's own answers, such as `token_unavailable`, or the error of an authorization server.
  package var error: LogLabel?

  package init(id: RequestID, wallNanoseconds: Int64, event: Event = .request) {
    self.id = id
    self.wallNanoseconds = wallNanoseconds
    self.event = event
  }
}
