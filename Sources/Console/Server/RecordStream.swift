import EventLoop
import HTTPTransport
import HTTPWire
import Tracing

/// One live answer of `/v1/records`: asks the hub for lines only when the client has taken the ones before, so that a
/// slow reader misses records (a notice says how many) and fills no memory.
final class RecordStream {
  private let connection: ServerConnection
  private let isChunked: Bool
  private var subscription: Subscription?
  private var events = ByteBuffer()

  /// Writes the head and begins with the last `last` records.
  init(_ connection: ServerConnection, hub: RecordHub, last: Int, chunked: Bool) {
    self.connection = connection
    isChunked = chunked
    let bound = LoopBound(self, on: connection.loop)
    let subscription = hub.subscribe(last: last) { lines in bound.post { $0.deliver(lines) } }
    self.subscription = subscription
    let isOut = connection.respond {
      AdminAnswer.appendStreamHead(contentType: "text/event-stream", chunked: chunked, to: &$0)
    }
    if isOut { subscription.request() }
  }

  private func deliver(_ lines: [UInt8]) {
    guard let subscription else { return }
    RecordLines.appendEvents(lines, to: &events)
    let isOut = connection.respond { output in
      guard isChunked else { return events.withUnsafeBytes { output.append($0) } }
      output.append(hex: UInt64(events.count))
      output.append("\r\n")
      events.withUnsafeBytes { output.append($0) }
      output.append("\r\n")
    }
    events.release()
    if isOut { subscription.request() }
  }

  /// The client has taken everything.
  func drained() { subscription?.request() }

  /// Ends the answer properly: the daemon stops.
  func finish() {
    guard subscription != nil else { return }
    cancel()
    if isChunked { connection.respond { $0.append("0\r\n\r\n") } }
    connection.finishResponse(keepAlive: false)
  }

  /// The client is gone.
  func cancel() {
    subscription?.cancel()
    subscription = nil
  }
}
