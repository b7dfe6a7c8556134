import EventLoop
import Glibc
import HTTPTransport
import HTTPWire
import LoopbackPeers
import Testing

struct ConnectingTests {
  private static let soon: UInt64 = 100_000_000
  private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

  /// A port that takes the handshake of no further connection: its queue is full.
  private final class FullPort {
    let listener: PeerListener
    private var fillers: [Int32] = []

    init(binding address: SocketAddress) throws {
      listener = try PeerListener(binding: address, backlog: 0)
      for _ in 0..<4 {
        let descriptor = socket(
          address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        _ = listener.address.withRawAddress {
          connect(descriptor, $0.assumingMemoryBound(to: sockaddr.self), socklen_t($1))
        }
        fillers.append(descriptor)
      }
    }

    deinit { for descriptor in fillers { close(descriptor) } }
  }

  private static func address(_ host: String, port: UInt16 = 0) throws -> SocketAddress {
    try #require(SocketAddress(numericHost: host, port: port))
  }

  @Test func `a refused connection is unreachable, told after the call that asked`() throws {
    let port = try PeerListener().port  // closed again
    let rig = try UpstreamRig(origin: "http://127.0.0.1:\(port)", listener: PeerListener())
    let exchange = rig.start()
    #expect(exchange.failure == nil)
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.failure == .unreachable("connect: Connection refused"))
    #expect(rig.endpoint.openConnections == 0)
  }

  @Test func `a name that does not resolve is unreachable`() throws {
    let rig = try UpstreamRig(origin: "http://no-such-name.invalid", listener: PeerListener())
    let exchange = rig.start()
    #expect(rig.turned.turn { exchange.isOver })
    guard case .unreachable(let reason) = exchange.failure else {
      Issue.record("\(String(describing: exchange.failure))")
      return
    }
    #expect(reason.hasPrefix("name not resolved: "))
  }

  @Test func `a path that is too long, or has no socket, is unreachable in the next round`() throws {
    for path in ["/nonexistent/socket", "/" + String(repeating: "x", count: 200)] {
      let turned = TurnedLoop()
      let endpoint = UpstreamEndpoint(
        loop: turned.loop, address: .unix(path: path), tls: nil, serverName: nil,
        scratch: LoopScratch(limits: HeadLimits()), resolver: Resolver(), limits: UpstreamLimits())
      let exchange = StreamExchange("GET / HTTP/1.1\r\n\r\n")
      exchange.start(on: endpoint)
      #expect(exchange.failure == nil)
      #expect(turned.turn { exchange.isOver })
      guard case .unreachable = exchange.failure else {
        Issue.record("\(String(describing: exchange.failure))")
        continue
      }
    }
  }

  @Test func `a failure that was on its way is not told to one who cancelled`() throws {
    let rig = try UpstreamRig(origin: "http://127.0.0.1:1", listener: PeerListener())
    let turned = rig.turned
    let endpoint = UpstreamEndpoint(
      loop: turned.loop, address: .unix(path: "/nonexistent/socket"), tls: nil, serverName: nil,
      scratch: LoopScratch(limits: HeadLimits()), resolver: Resolver(), limits: UpstreamLimits())
    let exchange = StreamExchange("GET / HTTP/1.1\r\n\r\n")
    exchange.start(on: endpoint)
    exchange.cancel()
    turned.settle()
    #expect(exchange.heard.isEmpty)
    #expect(endpoint.openConnections == 0)
  }

  @Test func `localhost is tried by IPv6 and then by IPv4`() throws {
    let listener = try PeerListener()
    let rig = try UpstreamRig(origin: "http://localhost:\(listener.port)", listener: listener)
    let (exchange, peer) = rig.exchange()
    peer?.send(Self.ok)
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.heard == ["new", "head 200 fields 1", "body ok", "end"])
  }

  @Test func `an address that does not answer leaves time for the next`() throws {
    let listener = try PeerListener()
    let silent = try FullPort(binding: Self.address("::1", port: listener.port))
    var limits = UpstreamLimits()
    limits.connectNanoseconds = 1_000_000_000
    let rig = try UpstreamRig(origin: "http://localhost:\(listener.port)", listener: listener, limits: limits)
    let (exchange, peer) = rig.exchange()
    peer?.send(Self.ok)
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.heard == ["new", "head 200 fields 1", "body ok", "end"])
    withExtendedLifetime(silent) {}
  }

  @Test func `a server that does not answer is a connect timeout`() throws {
    let silent = try FullPort(binding: Self.address("127.0.0.1"))
    var limits = UpstreamLimits()
    limits.connectNanoseconds = Self.soon
    let rig = try UpstreamRig(
      origin: "http://127.0.0.1:\(silent.listener.port)", listener: PeerListener(), limits: limits)
    let exchange = rig.start()
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.failure == .connectTimeout)
    #expect(rig.endpoint.openConnections == 0)
  }

  @Test func `many requests wait for one name, and any of them may leave`() throws {
    let listener = try PeerListener()
    let rig = try UpstreamRig(origin: "http://localhost:\(listener.port)", listener: listener)
    let exchanges = (0..<20).map { _ in rig.start() }
    for exchange in exchanges.prefix(10) { exchange.cancel() }
    let peers = (0..<10).compactMap { _ in rig.accept() }
    for peer in peers { peer.send(Self.ok) }
    #expect(rig.turned.turn { exchanges.suffix(10).allSatisfy(\.isOver) })
    #expect(exchanges.prefix(10).allSatisfy { $0.heard.isEmpty })
    #expect(exchanges.suffix(10).allSatisfy { $0.heard.last == "end" })
  }

  @Test(arguments: ["resolving", "connecting", "sent", "head", "body"])
  func `a stream is cancelled in every phase and its connection goes`(phase: String) throws {
    let listener = try PeerListener()
    let host = phase == "resolving" ? "localhost" : "127.0.0.1"
    let rig = try UpstreamRig(origin: "http://\(host):\(listener.port)", listener: listener)
    let exchange = rig.start()
    if phase != "resolving" && phase != "connecting" {
      let peer = try #require(rig.accept())
      #expect(rig.turned.turn { !peer.text.isEmpty })
      if phase == "head" { peer.send("HTTP/1.1 200 O") }
      if phase == "body" { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab") }
      #expect(rig.turned.turn { phase != "body" || exchange.bodyBytes == 2 })
      rig.turned.settle()
    }
    let heard = exchange.heard
    exchange.cancel()
    rig.turned.settle()
    #expect(exchange.heard == heard)
    #expect(rig.endpoint.openConnections == 0)
  }

  /// The head that never comes, the head that trickles, the body that stops.
  @Test(arguments: ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"])
  func `a response that stops is a response timeout`(answer: String) throws {
    var limits = UpstreamLimits()
    (limits.responseHeadNanoseconds, limits.responseBodyNanoseconds) = (Self.soon, Self.soon)
    let rig = try UpstreamRig(limits: limits)
    let (exchange, peer) = rig.exchange()
    peer?.send(answer)
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.failure == .responseTimeout)
    #expect(rig.endpoint.openConnections == 0)
  }

  @Test func `a response that is paused is not timed, one that goes on is not over`() throws {
    var limits = UpstreamLimits()
    limits.responseBodyNanoseconds = 300_000_000
    let rig = try UpstreamRig(limits: limits)
    let (exchange, peer) = rig.exchange()
    peer?.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    var lastSent = SystemTime.monotonicNanoseconds
    let began = lastSent
    #expect(
      rig.turned.turn {
        let now = SystemTime.monotonicNanoseconds
        if now - lastSent > 50_000_000 {
          lastSent = now
          peer?.send("x")
        }
        return now - began > 600_000_000
      })
    #expect(!exchange.isOver)
    exchange.stream?.pauseReading()
    let paused = SystemTime.monotonicNanoseconds
    #expect(rig.turned.turn { SystemTime.monotonicNanoseconds - paused > 600_000_000 })
    #expect(!exchange.isOver)
    exchange.stream?.resumeReading()
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.failure == .responseTimeout)
  }
}
