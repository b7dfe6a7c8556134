import EventLoop
import HTTPWire
import LoopbackPeers
import Testing

@testable import HTTPTransport

/// When a connection carries another request, and what may be concluded when it does not.
struct PoolTests {
  private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  /// A connection that has served one request.
  private func used(_ rig: UpstreamRig) throws -> Peer {
    let (exchange, accepted) = rig.exchange()
    let peer = try #require(accepted)
    peer.send(Self.ok)
    #expect(rig.turned.turn { exchange.isOver })
    #expect(rig.endpoint.idleConnections == 1)
    peer.forgetReceived()
    return peer
  }

  @Test func `an idle connection carries the next request at once, a fresh one is another`() throws {
    let rig = try UpstreamRig()
    let peer = try used(rig)
    let second = rig.start()
    #expect(second.heard == ["reused"])
    #expect(rig.turned.turn { peer.text == "GET / HTTP/1.1\r\n\r\n" })
    peer.send(Self.ok)
    #expect(rig.turned.turn { second.isOver })
    let third = rig.start(fresh: true)
    #expect(rig.accept() != nil)
    #expect(rig.turned.turn { third.heard == ["new"] })
  }

  @Test func `the next request may be sent from within the end of the last, on the same connection`() throws {
    let rig = try UpstreamRig()
    let (first, accepted) = rig.exchange()
    let peer = try #require(accepted)
    var second: StreamExchange?
    first.onEnd = { second = rig.start("GET /second HTTP/1.1\r\n\r\n") }
    peer.send(Self.ok)
    #expect(rig.turned.turn { peer.text.hasSuffix("GET /second HTTP/1.1\r\n\r\n") })
    peer.send(Self.ok)
    #expect(rig.turned.turn { second?.isOver == true })
    #expect(second?.heard == ["reused", "head 200 fields 1", "body ok", "end"])
  }

  @Test func `the next request may be sent from within the end of a response that was paused`() throws {
    let rig = try UpstreamRig()
    let (first, accepted) = rig.exchange()
    let peer = try #require(accepted)
    first.onHead = { $0.pauseReading() }
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n")
    #expect(rig.turned.turn { first.heard.count == 2 })
    var second: StreamExchange?
    first.onEnd = { second = rig.start() }
    first.stream?.resumeReading()
    #expect(first.isOver)
    peer.forgetReceived()
    #expect(rig.turned.turn { !peer.text.isEmpty })
    peer.send(Self.ok)
    #expect(rig.turned.turn { second?.isOver == true })
    #expect(second?.heard == ["reused", "head 200 fields 1", "body ok", "end"])
  }

  /// They had arrived when the request was made, but only its round has brought them to light.
  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno"])
  func `what comes before a request is sent is no answer to it, and nothing is lost`(early: String) throws {
    let rig = try UpstreamRig()
    let peer = try used(rig)
    peer.send(early)
    peer.finishSending()
    let exchange = rig.start(canResend: true)
    #expect(exchange.heard == ["reused"])
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.failure == .closed)
    #expect(exchange.progress == SendProgress(reused: true, wroteBytes: false, receivedBytes: false))
    #expect(peer.text.isEmpty)
  }

  /// What epoll has not told of, because it tells of so many events at a time.
  private final class Interloper {
    let peer: Peer
    let speaking = RoundWork { Unmanaged<Interloper>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.speak() } }

    init(_ peer: Peer) {
      self.peer = peer
      speaking.bind(to: self)
    }

    private func speak() { peer.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 4\r\n\r\nEVIL") }
  }

  @Test func `what comes unheard before a request goes out is no answer to it either`() throws {
    let rig = try UpstreamRig()
    let interloper = Interloper(try used(rig))
    let exchange = rig.start(canResend: true)
    rig.turned.loop.afterEvents(interloper.speaking)  // all events of the round have been heard then
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.failure == .closed)
    #expect(exchange.progress == SendProgress(reused: true, wroteBytes: false, receivedBytes: false))
    #expect(interloper.peer.text.isEmpty)
  }

  /// Reads take 65,536 bytes at most: the second response waits in the kernel when the first is whole.
  @Test func `a response that fills a read exactly does not hide what is behind it`() throws {
    let rig = try UpstreamRig()
    let (exchange, accepted) = rig.exchange()
    let peer = try #require(accepted)
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 65494\r\n\r\n"
    let whole = head + String(repeating: "x", count: 65_494)
    try #require(whole.utf8.count == 65_536)
    let bytes = Array((whole + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno").utf8)
    var sent = 0
    #expect(
      rig.turned.turn {
        sent += peer.send(bytes[sent...])
        return exchange.isOver
      })
    #expect(exchange.bodyBytes == 65_494)
    #expect(rig.endpoint.idleConnections == 0)
    #expect(rig.endpoint.openConnections == 0)
  }

  @Test func `a request that can't be sent again has the connection probed first`() throws {
    let rig = try UpstreamRig()
    let peer = try used(rig)
    peer.finishSending()
    let exchange = rig.start()
    #expect(exchange.heard.isEmpty)  // a new connection is on its way
    #expect(rig.accept() != nil)
    #expect(rig.turned.turn { exchange.heard == ["new"] })
  }

  @Test func `bytes on an idle connection close it`() throws {
    let rig = try UpstreamRig()
    let peer = try used(rig)
    peer.send("HTTP/1.1 200 OK\r\n")
    #expect(rig.turned.turn { rig.endpoint.openConnections == 0 })
    #expect(eventually { peer.isOver })
  }

  @Test func `bytes behind a response, in one read with it, are never the next answer`() throws {
    let rig = try UpstreamRig()
    let (exchange, peer) = rig.exchange()
    peer?.send(Self.ok + Self.ok)
    #expect(rig.turned.turn { exchange.isOver })
    #expect(rig.endpoint.openConnections == 0)
  }

  @Test(arguments: ["bytes", "end", "reset"])
  func `what came on an idle connection and was not yet read is seen before the next request`(what: String) throws {
    let rig = try UpstreamRig()
    let peer = try used(rig)
    switch what {
    case "bytes": peer.send(Self.ok)
    case "end": peer.finishSending()
    default: peer.reset()
    }
    // No round of the loop in between: no event has told of it.
    let next = rig.start()
    #expect(next.heard.isEmpty)
    #expect(rig.accept() != nil)
    #expect(rig.turned.turn { next.heard == ["new"] })
    #expect(rig.endpoint.openConnections == 1)
  }

  @Test func `idle connections are kept up to the limit, and for the limit's time`() throws {
    var limits = UpstreamLimits()
    limits.idleMax = 2
    limits.idleNanoseconds = 60_000_000
    let rig = try UpstreamRig(limits: limits)
    let exchanges = (0..<4).map { _ in rig.start() }
    let peers = (0..<4).compactMap { _ in rig.accept() }
    #expect(rig.turned.turn { peers.allSatisfy { !$0.text.isEmpty } })
    for peer in peers { peer.send(Self.ok) }
    #expect(rig.turned.turn { exchanges.allSatisfy(\.isOver) })
    #expect(rig.endpoint.idleConnections <= 2)
    #expect(rig.turned.turn { rig.endpoint.openConnections == 0 })
    #expect(rig.turned.turn { peers.allSatisfy(\.isOver) })
  }

  @Test func `a closed endpoint lets what is under way finish and keeps nothing`() throws {
    let rig = try UpstreamRig()
    let idle = try used(rig)
    let busy = rig.start(fresh: true)
    let peer = try #require(rig.accept())
    #expect(rig.turned.turn { !peer.text.isEmpty })
    rig.endpoint.closeIdle()
    #expect(eventually { idle.isOver })
    #expect(rig.endpoint.openConnections == 1)
    peer.send(Self.ok)
    #expect(rig.turned.turn { busy.isOver })
    #expect(busy.heard.last == "end")
    #expect(rig.endpoint.openConnections == 0)
  }

  @Test func `an endpoint must not go while connections are open`() async {
    await #expect(processExitsWith: .failure) {
      let listener = try PeerListener()
      let turned = TurnedLoop()
      var endpoint: UpstreamEndpoint? = UpstreamEndpoint(
        loop: turned.loop, address: .origin(try Origin(parsing: "http://127.0.0.1:\(listener.port)")), tls: nil,
        serverName: nil, scratch: LoopScratch(limits: HeadLimits()), resolver: Resolver(), limits: UpstreamLimits())
      let exchange = StreamExchange("GET / HTTP/1.1\r\n\r\n")
      if let endpoint { exchange.start(on: endpoint) }
      endpoint = nil
    }
  }

  @Test(arguments: [
    (false, false, false, false, false), (true, false, false, true, true), (true, true, false, false, true),
    (true, true, true, false, false), (true, false, true, false, false), (false, true, false, false, false),
  ])
  func `a resend is safe when the first cannot have been processed, or may be twice`(
    reused: Bool, wrote: Bool, received: Bool, anyMethod: Bool, idempotent: Bool
  ) {
    let progress = SendProgress(reused: reused, wroteBytes: wrote, receivedBytes: received)
    #expect(progress.isResendSafe(methodIsIdempotent: false) == anyMethod)
    #expect(progress.isResendSafe(methodIsIdempotent: true) == idempotent)
  }

  @Test func `a connection that dies tells how far its request had come`() throws {
    for (reused, answer) in [(false, ""), (true, ""), (true, "HTTP/1.1 2")] {
      let rig = try UpstreamRig()
      let exchange: StreamExchange
      let peer: Peer
      if reused {
        peer = try used(rig)
        exchange = rig.start()
      } else {
        let (begun, accepted) = rig.exchange()
        exchange = begun
        peer = try #require(accepted)
      }
      #expect(rig.turned.turn { !peer.text.isEmpty })
      peer.send(answer)
      peer.finishSending()
      #expect(rig.turned.turn { exchange.isOver })
      #expect(exchange.failure == .closed)
      #expect(
        exchange.progress == SendProgress(reused: reused, wroteBytes: true, receivedBytes: !answer.isEmpty))
    }
  }
}
