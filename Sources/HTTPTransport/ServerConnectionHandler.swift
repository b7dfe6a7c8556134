package import HTTPWire

/// Serves the requests of one connection, one after the other.
///
/// Byte ranges handed over are valid during the call only. A handler answers by `respond…` calls at any time after
/// the head, and completes each with `finishResponse`.
package protocol ServerConnectionHandler: AnyObject {
  func connection(
    _ connection: ServerConnection, received head: RequestHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable)
  func connection(_ connection: ServerConnection, receivedBody bytes: UnsafeRawBufferPointer)
  /// The trailer lines behind a chunked body, with the empty one; without the fields that are the connection's own.
  /// The end follows.
  func connection(
    _ connection: ServerConnection, receivedTrailers bytes: UnsafeRawBufferPointer, fields: FieldTable)
  func connectionReceivedEnd(_ connection: ServerConnection)
  /// The client takes more again.
  func connectionDrained(_ connection: ServerConnection)
  /// The kernel has the whole answer that `finishResponse` completed. The next request may follow.
  func connectionDelivered(_ connection: ServerConnection)
  /// The client broke the protocol before or within a request; the handler answers and closes. Told once.
  func connection(_ connection: ServerConnection, violated violation: HeadViolation)
  func connection(_ connection: ServerConnection, violated violation: ChunkViolation)
  /// A request head or body did not arrive in time; the handler answers 408 and closes.
  func connectionTimedOut(_ connection: ServerConnection)
  /// The connection is gone, whoever closed it. The last call.
  func connectionClosed(_ connection: ServerConnection)
}

/// How long a client may take, in nanoseconds.
package struct ServerTimeouts: Sendable {
  /// From the first byte of a head to its last.
  package var head: UInt64 = 10_000_000_000
  /// Between requests.
  package var idle: UInt64 = 75_000_000_000
  /// Without any byte of a body that is being waited for.
  package var body: UInt64 = 60_000_000_000
  /// Without the client taking any byte of an answer.
  package var send: UInt64 = 60_000_000_000
  /// To go on reading, and throwing away, what a refused client still sends.
  package var linger: UInt64 = 5_000_000_000

  /// From the moment the process is told to end to the last byte of a head that has begun: whoever still sends one must
  /// not hold up the end for as long as requests under way may.
  package static let drainingHeadMax: UInt64 = 1_000_000_000

  package init() {}

  mutating func shortenHead() { head = min(head, Self.drainingHeadMax) }
}
