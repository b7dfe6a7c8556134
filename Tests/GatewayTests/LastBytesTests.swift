import EventLoop
import Glibc
import HTTPTransport
import HTTPWire
import LoopbackPeers
import Testing

@testable import Gateway
@testable import Tracing

/// The record of an answer whose last bytes wait for a client that does not take them (design §4.8).
struct LastBytesTests {
  /// A gateway on the test's own loop, with one client and one upstream in the test's hand. The kernel takes a few
  /// kilobytes for the client, so that a small answer is complete long before it is taken.
  private final class Rig {
    let turned = TurnedLoop()
    let client: Peer
    let exchange: Exchange
    let connection: ServerConnection
    private let listener: PeerListener
    private let hub: RecordHub
    private let gateway: GatewayLoop

    init() throws {
      listener = try PeerListener()
      let upstream = try HTTPURL(parsing: "http://127.0.0.1:\(listener.port)/")
      hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets())
      var settings = GatewaySettings()
      (settings.loops, settings.callers) = (1, .any)
      let route = GatewayRoute(.init(name: "r", path: "/r", upstream: upstream, endpoint: 0), index: 0)
      gateway = GatewayLoop(
        loop: turned.loop,
        shared: GatewayShared(
          settings: settings, routes: RouteTable([route]),
          endpoints: [EndpointDefinition(origin: upstream.origin, tls: nil, serverName: nil)],
          admission: Admission(authorities: ["gw"], routeAuthorities: []), hub: hub, resolver: Resolver()))
      let descriptor: Int32
      (client, descriptor) = try Peer.pair()
      var bytes: Int32 = 4_096
      setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
      exchange = Exchange(gateway: gateway, callerUID: nil)
      connection = ServerConnection(
        loop: turned.loop, descriptor: descriptor, scratch: gateway.scratch, timeouts: ServerTimeouts(),
        handler: exchange)
      exchange.client = connection
    }

    deinit {
      connection.close()
      for endpoint in gateway.endpoints { endpoint.closeIdle() }
      gateway.close()
      hub.flushAndClose()
    }

    /// Sends a request and answers it; then the answer is complete and the client has not taken it.
    func answer(_ request: String, with answer: String) {
      client.send(request)
      var upstream: Peer?
      #expect(
        turned.turn {
          upstream = upstream ?? listener.accept()
          return upstream?.text.hasSuffix("\r\n\r\n") == true
        })
      #expect(upstream?.send(answer) == answer.utf8.count)
      #expect(turned.turn { exchange.stream == nil && connection.pendingBytes > 0 })
    }

    /// The records so far.
    func records() -> [JSONValue] {
      gateway.log.flush()
      hub.waitUntilWritten()
      return hub.lastLines(10).split(separator: UInt8(ascii: "\n")).compactMap { try? JSONValue(parsing: Array($0)) }
    }
  }

  private static let body = String(repeating: "x", count: 30_000)

  /// How the upstream frames its answer.
  enum Framing: CaseIterable, Sendable {
    case length, chunked

    var answer: String {
      switch self {
      case .length: "HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n\(body)"
      case .chunked: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7530\r\n\(body)\r\n0\r\n\r\n"
      }
    }
  }

  private static func get(_ target: String = "/r", keepAlive: Bool = true) -> String {
    "GET \(target) HTTP/1.1\r\nHost: gw\r\n\(keepAlive ? "" : "Connection: close\r\n")\r\n"
  }

  @Test(arguments: [true, false], Framing.allCases)
  func `a client that leaves before it has taken the last bytes is 499`(keepAlive: Bool, framing: Framing) throws {
    let rig = try Rig()
    rig.answer(Self.get(keepAlive: keepAlive), with: framing.answer)
    #expect(rig.records().isEmpty)
    rig.client.close()
    #expect(rig.turned.turn { rig.connection.isClosed })
    let records = rig.records()
    #expect(records.map { $0["status"]?.int64Value } == [499])
    #expect(records.first?["source"]?.stringValue == "gateway")
    #expect(!rig.exchange.isOpen)
  }

  @Test(arguments: [true, false], Framing.allCases)
  func `a client that takes the last bytes late is one record with the upstream's status`(
    keepAlive: Bool, framing: Framing
  ) throws {
    let rig = try Rig()
    rig.answer(Self.get(keepAlive: keepAlive), with: framing.answer)
    #expect(rig.records().isEmpty)
    let isTaken = rig.turned.turn {
      rig.client.pump()
      return !rig.exchange.isOpen
    }
    #expect(isTaken)
    #expect(rig.client.text.count { $0 == "x" } == Self.body.utf8.count)
    let records = rig.records()
    #expect(records.map { $0["status"]?.int64Value } == [200])
    #expect(records.first?["source"]?.stringValue == "upstream")
    #expect(records.first?["response_bytes"]?.int64Value == 30_000)
    // What it sends next has a record of its own.
    guard keepAlive else { return }
    rig.client.send(Self.get("/none"))
    #expect(rig.turned.turn { rig.client.text.contains("HTTP/1.1 404 ") })
    #expect(rig.records().map { $0["status"]?.int64Value } == [200, 404])
  }

  @Test func `a request sent ahead is answered, and recorded, behind the one whose last bytes were late`() throws {
    let rig = try Rig()
    rig.client.send(Self.get() + Self.get("/none"))
    rig.answer("", with: Framing.length.answer)
    #expect(rig.records().isEmpty)
    #expect(rig.turned.turn { rig.client.text.contains("HTTP/1.1 404 ") })
    #expect(rig.records().map { $0["status"]?.int64Value } == [200, 404])
  }
}
