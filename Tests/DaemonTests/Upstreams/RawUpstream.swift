import HTTPWire

@testable import Simulators

/// An upstream that says exactly what it is told, when it is told.
final class RawUpstream: Sendable {
  /// One connection as a script sees it.
  struct Line {
    fileprivate let connection: BlockingConnection
    /// Counted from 1.
    var number: Int { connection.number }

    /// The next request's head; nil when the gateway has closed.
    func nextHead() -> ReceivedHead? { try? connection.nextHead() }  // whatever ends the connection
    func readBody(of head: ReceivedHead) { _ = try? connection.readBody(of: head) }  // the test sees what is missing
    /// How many bytes come before the gateway ends the connection; nil if it breaks it off.
    func bytesUntilEnd() -> UInt64? {
      let head = ReceivedHead(
        method: "", target: "", minorVersion: 1, fields: [], framing: .untilClose, isPersistent: false,
        expectsContinue: false)
      return try? connection.readBody(of: head).byteCount  // a connection that is broken off
    }
    func write(_ text: String) { try? connection.write(Array(text.utf8)) }  // the gateway may have closed
    /// Waits until `open(_:)`.
    func wait(for gates: Gates, _ gate: String) {
      do {
        try gates.wait(at: gate) { milliseconds throws(ConnectionFailure) in
          try connection.pause(milliseconds: milliseconds)
        }
      } catch {}  // the test is over
    }
  }

  let gates = Gates()
  private let listener: Listener
  private let ended: AsyncStream<Void>

  init(_ script: @escaping @Sendable (Line, Gates) -> Void) throws {
    let (stream, end) = AsyncStream.makeStream(of: Void.self)
    ended = stream
    let gates = gates
    listener = try Listener(port: 0) { channel, number in
      script(Line(connection: BlockingConnection(channel: channel, number: number)), gates)
      end.yield()
    }
  }

  var url: String { "http://127.0.0.1:\(listener.port)" }

  /// Waits for the scripts of so many connections to end. Once.
  func hasEnded(connections: Int) async { for await _ in ended.prefix(connections) {} }

  func stop() { listener.stop() }
}
