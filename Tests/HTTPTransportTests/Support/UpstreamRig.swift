import EventLoop
import HTTPTransport
import HTTPWire
import LoopbackPeers

/// One endpoint, and the server behind it in the test's hand.
final class UpstreamRig {
  let turned = TurnedLoop()
  let listener: PeerListener
  let endpoint: UpstreamEndpoint
  private var exchanges: [StreamExchange] = []

  init(limits: UpstreamLimits = UpstreamLimits()) throws {
    listener = try PeerListener()
    endpoint = UpstreamEndpoint(
      loop: turned.loop, address: .origin(try Origin(parsing: "http://127.0.0.1:\(listener.port)")), tls: nil,
      serverName: nil, scratch: LoopScratch(limits: HeadLimits()), resolver: Resolver(), limits: limits)
  }

  /// An endpoint for an address, or a name, whose server listens on `listener`, or nowhere.
  init(
    origin: String, listener: PeerListener, tls: TLSContext? = nil, serverName: String? = nil,
    limits: UpstreamLimits = UpstreamLimits()
  ) throws {
    self.listener = listener
    endpoint = UpstreamEndpoint(
      loop: turned.loop, address: .origin(try Origin(parsing: origin)), tls: tls, serverName: serverName,
      scratch: LoopScratch(limits: HeadLimits()), resolver: Resolver(), limits: limits)
  }

  deinit {
    for exchange in exchanges { exchange.cancel() }
    endpoint.closeIdle()
  }

  /// Opens a stream and sends `request` on it as soon as that can be done.
  func start(
    _ request: String = "GET / HTTP/1.1\r\n\r\n", head: Bool = false, fresh: Bool = false, canResend: Bool = false
  ) -> StreamExchange {
    let exchange = StreamExchange(request, methodIsHEAD: head)
    exchanges.append(exchange)
    exchange.start(on: endpoint, fresh: fresh, canResend: canResend)
    return exchange
  }

  /// The server's end of the next connection.
  func accept() -> Peer? {
    var peer: Peer?
    _ = turned.turn {
      peer = listener.accept()
      return peer != nil
    }
    return peer
  }

  /// Starts a request and waits until its server has it.
  func exchange(_ request: String = "GET / HTTP/1.1\r\n\r\n", head: Bool = false) -> (StreamExchange, Peer?) {
    let exchange = start(request, head: head)
    let peer = accept()
    _ = turned.turn { peer?.text.hasSuffix(request) == true }
    return (exchange, peer)
  }
}

/// One request, and what its stream says of the response.
final class StreamExchange: UpstreamStreamDelegate {
  private let request: String
  private let methodIsHEAD: Bool
  private(set) var stream: (any UpstreamStream)?
  /// What was heard: neighbouring body pieces as one.
  private(set) var heard: [String] = []
  private(set) var bodyBytes = 0
  private(set) var drained = 0
  private(set) var failure: UpstreamFailure?
  private(set) var progress: SendProgress?
  var finishesSending = true
  /// What is sent with the head.
  var body: [UInt8] = []
  var onReady: (any UpstreamStream) -> Void = { _ in }
  var onHead: (any UpstreamStream) -> Void = { _ in }
  var onBody: (any UpstreamStream) -> Void = { _ in }
  var onEnd: () -> Void = {}

  init(_ request: String, methodIsHEAD: Bool = false) {
    self.request = request
    self.methodIsHEAD = methodIsHEAD
  }

  var isOver: Bool { heard.last == "end" || failure != nil }

  func start(on endpoint: UpstreamEndpoint, fresh: Bool = false, canResend: Bool = false) {
    let stream = endpoint.openStream(fresh: fresh, canResend: canResend, delegate: self)
    self.stream = stream
    if stream.isReady { streamReady(stream) }
  }

  func cancel() {
    stream?.cancel()
    stream = nil
    forgetActions()
  }

  func streamReady(_ stream: any UpstreamStream) {
    heard.append(stream.isReused ? "reused" : "new")
    onReady(stream)
    body.withUnsafeBytes { body in
      stream.send(methodIsHEAD: methodIsHEAD, body: body) { $0.append(request) }
    }
    if finishesSending { stream.finishSending() }
  }

  func stream(_ stream: any UpstreamStream, receivedInformational status: UInt16) { heard.append("interim \(status)") }

  func stream(
    _ stream: any UpstreamStream, received head: ResponseHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable
  ) {
    heard.append("head \(head.status) fields \(fields.count)")
    onHead(stream)
  }

  func stream(_ stream: any UpstreamStream, receivedBody bytes: UnsafeRawBufferPointer) {
    bodyBytes += bytes.count
    let text = String(decoding: bytes.prefix(100), as: UTF8.self)
    if heard.last?.hasPrefix("body ") == true {
      if bodyBytes < 1_000 { heard[heard.count - 1] += text }
    } else {
      heard.append("body \(text)")
    }
    onBody(stream)
  }

  func stream(_ stream: any UpstreamStream, receivedTrailers bytes: UnsafeRawBufferPointer, fields: FieldTable) {
    heard.append(trailerText(bytes, fields))
  }

  func streamDrained(_ stream: any UpstreamStream) { drained += 1 }

  func streamReceivedEnd(_ stream: any UpstreamStream) {
    heard.append("end")
    self.stream = nil
    onEnd()
    forgetActions()
  }

  func streamFailed(_ stream: any UpstreamStream, _ failure: UpstreamFailure) {
    heard.append("failed")
    self.failure = failure
    progress = stream.progress
    self.stream = nil
    forgetActions()
  }

  /// They may hold what holds this.
  private func forgetActions() {
    onReady = { _ in }
    onHead = { _ in }
    onBody = { _ in }
    onEnd = {}
  }
}

/// Trailer fields as what was heard says them.
func trailerText(_ bytes: UnsafeRawBufferPointer, _ fields: FieldTable) -> String {
  let lines = (0..<fields.count).map { index in
    "\(String(decoding: bytes[fields[index].name], as: UTF8.self))=\(String(decoding: bytes[fields[index].value], as: UTF8.self))"
  }
  return "trailers \(lines.joined(separator: " "))"
}
