import EventLoop
import HTTPTransport
import HTTPWire
import LoopbackPeers

/// One server connection over a pair of sockets, its client in the test's hand, and a handler that notes what it hears.
@dynamicMemberLookup
final class ServerRig {
  let turned: TurnedLoop
  let client: Peer
  private let handler = RecordingHandler()

  init(on turned: TurnedLoop = TurnedLoop(), timeouts: ServerTimeouts = ServerTimeouts(), overTCP: Bool = false) throws
  {
    self.turned = turned
    let descriptor: Int32
    if overTCP {
      let listener = try PeerListener()
      client = try Peer.connect(to: listener.address)
      guard let accepted = listener.acceptDescriptor() else { throw SocketError("accept") }
      descriptor = accepted
    } else {
      (client, descriptor) = try Peer.pair()
    }
    handler.connection = ServerConnection(
      loop: turned.loop, descriptor: descriptor, scratch: LoopScratch(limits: HeadLimits()), timeouts: timeouts,
      handler: handler)
  }

  deinit {
    handler.connection?.close()
    handler.answer = { _ in }  // it may hold the connection, which holds the handler
  }

  subscript<Value>(dynamicMember path: ReferenceWritableKeyPath<RecordingHandler, Value>) -> Value {
    get { handler[keyPath: path] }
    set { handler[keyPath: path] = newValue }
  }

  func send(_ text: String) -> Bool { send(text.utf8) }

  /// Sends `bytes` and lets the server read all of it.
  func send(_ bytes: some Collection<UInt8>) -> Bool {
    client.send(bytes)
    return turned.turn { handler.connection.map { unreadBytes(of: $0.descriptor) == 0 } != false }
  }

  /// What has arrived at the server and was not read.
  var connectionUnreadBytes: Int { handler.connection.map { unreadBytes(of: $0.descriptor) } ?? 0 }

  func turn(until condition: () -> Bool) -> Bool { turned.turn(until: condition) }
}

/// Serves a connection as the test says, and answers 204 if it says nothing.
final class RecordingHandler: ServerConnectionHandler {
  /// Nil when it was closed.
  var connection: ServerConnection?
  /// What was heard: neighbouring body pieces as one.
  var heard: [String] = []
  var bodyBytes = 0
  /// Answers that are with the kernel.
  var delivered = 0
  var isClosed = false
  /// What is done when a request is complete.
  var answer: (ServerConnection) -> Void = { connection in
    connection.respond { $0.append("HTTP/1.1 204 No Content\r\n\r\n") }
    connection.finishResponse(keepAlive: true)
  }
  var onHead: (ServerConnection) -> Void = { _ in }
  var onBody: (ServerConnection) -> Void = { _ in }
  var onDrained: (ServerConnection) -> Void = { _ in }

  func connection(
    _ connection: ServerConnection, received head: RequestHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable
  ) {
    let (method, target) = (bytes[head.method], bytes[head.target])
    heard.append(
      "\(String(decoding: method, as: UTF8.self)) \(String(decoding: target, as: UTF8.self)) fields \(fields.count)")
    onHead(connection)
    if !isClosed, head.framing == .none || head.framing == .length(0) {
      heard.append("end")
      answer(connection)
    }
  }

  func connection(_ connection: ServerConnection, receivedBody bytes: UnsafeRawBufferPointer) {
    bodyBytes += bytes.count
    let text = String(decoding: bytes.prefix(100), as: UTF8.self)
    if let last = heard.last, last.hasPrefix("body "), last.utf8.count < 1_000 {
      heard[heard.count - 1] += text
    } else if heard.last?.hasPrefix("body ") != true {
      heard.append("body \(text)")
    }
    onBody(connection)
  }

  func connection(
    _ connection: ServerConnection, receivedTrailers bytes: UnsafeRawBufferPointer, fields: FieldTable
  ) {
    heard.append(trailerText(bytes, fields))
  }

  func connectionReceivedEnd(_ connection: ServerConnection) {
    heard.append("end")
    answer(connection)
  }

  func connectionDrained(_ connection: ServerConnection) { onDrained(connection) }
  func connectionDelivered(_ connection: ServerConnection) { delivered += 1 }

  func connection(_ connection: ServerConnection, violated violation: HeadViolation) {
    refuse(connection, "violated \(violation)")
  }

  func connection(_ connection: ServerConnection, violated violation: ChunkViolation) {
    refuse(connection, "violated chunk \(violation)")
  }

  func connectionTimedOut(_ connection: ServerConnection) { refuse(connection, "timed out", status: 408) }

  private func refuse(_ connection: ServerConnection, _ what: String, status: Int = 400) {
    heard.append(what)
    connection.respond { $0.append("HTTP/1.1 \(status) No\r\nConnection: close\r\n\r\n") }
    connection.finishResponse(keepAlive: false)
  }

  func connectionClosed(_ connection: ServerConnection) {
    heard.append("closed")
    isClosed = true
    self.connection = nil
  }
}
