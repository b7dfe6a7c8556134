import EventLoop
import HTTPTransport
import HTTPWire
import LoopbackPeers
import Testing

struct TLSUpstreamTests {
  private static let certificates = TestCertificates.shared

  /// An https endpoint and a TLS server on the test's thread.
  private final class Rig {
    let rig: UpstreamRig
    private let context: TLSContext
    private(set) var servers: [TLSPeer] = []

    init(authority: String = certificates.authority, serverName: String? = nil, host: String = "127.0.0.1") throws {
      let listener = try PeerListener()
      context = try TLSContext(
        serving: TLSIdentity(certificateChainFile: certificates.server, privateKeyFile: certificates.serverKey))
      rig = try UpstreamRig(
        origin: "https://\(host):\(listener.port)", listener: listener,
        tls: TLSContext(trusting: .file(authority)), serverName: serverName)
    }

    func accept() -> TLSPeer? { rig.listener.accept().map { TLSPeer($0, context) } }

    func turn(until condition: () -> Bool) -> Bool {
      rig.turned.turn {
        if let server = accept() { servers.append(server) }
        for server in servers { server.pump() }
        return condition()
      }
    }
  }

  @Test func `requests go over TLS, several on one connection`() throws {
    let tls = try Rig()
    for number in 1...3 {
      let exchange = tls.rig.start("GET /\(number) HTTP/1.1\r\n\r\n")
      #expect(tls.turn { tls.servers.last?.text.hasSuffix("GET /\(number) HTTP/1.1\r\n\r\n") == true })
      tls.servers.last?.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      #expect(tls.turn { exchange.isOver })
      #expect(exchange.heard == [number == 1 ? "new" : "reused", "head 200 fields 1", "body ok", "end"])
    }
    #expect(tls.servers.count == 1)
  }

  @Test func `a certificate that is not accepted is a failure of TLS, in OpenSSL's words`() throws {
    for (authority, name, reason) in [
      (Self.certificates.otherAuthority, nil, "unable to get local issuer certificate"),
      (Self.certificates.authority, "elsewhere.test", "hostname mismatch"),
    ] {
      let tls = try Rig(authority: authority, serverName: name)
      let exchange = tls.rig.start()
      #expect(tls.turn { exchange.isOver })
      #expect(exchange.failure == .tls("certificate not accepted: \(reason)"))
      #expect(tls.rig.endpoint.openConnections == 0)
    }
  }

  @Test func `a body that ends with the connection must end with close_notify`() throws {
    for isProper in [true, false] {
      let tls = try Rig(host: "localhost")
      let exchange = tls.rig.start()
      #expect(tls.turn { tls.servers.last?.text.isEmpty == false })
      let server = try #require(tls.servers.last)
      server.send("HTTP/1.1 200 OK\r\n\r\nsome")
      if isProper { server.sendCloseNotify() }
      server.peer.finishSending()
      #expect(tls.turn { exchange.isOver })
      #expect(exchange.failure == (isProper ? nil : .closed))
      #expect(exchange.heard.last == (isProper ? "end" : "failed"))
    }
  }

  @Test func `a large body comes whole, whatever is paused on the way`() throws {
    let tls = try Rig()
    let exchange = StreamExchange("GET / HTTP/1.1\r\n\r\n")
    var pieces = 0
    exchange.onBody = { stream in
      pieces += 1
      if pieces % 3 == 0 {
        stream.pauseReading()
        tls.rig.turned.loop.nextRound { stream.resumeReading() }
      }
    }
    exchange.start(on: tls.rig.endpoint)
    #expect(tls.turn { tls.servers.last?.text.isEmpty == false })
    let server = try #require(tls.servers.last)
    var rest = Array("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n".utf8)
    rest += [UInt8](repeating: 0x61, count: 3_000_000)
    #expect(
      tls.turn {
        rest.removeFirst(server.send(rest))
        return exchange.isOver
      })
    #expect(exchange.bodyBytes == 3_000_000)
    #expect(exchange.failure == nil)
    #expect(tls.rig.endpoint.idleConnections == 1)
  }

  @Test func `bytes on an idle TLS connection are noticed before the next request, tickets are not bytes`() throws {
    let tls = try Rig()
    let first = tls.rig.start()
    #expect(tls.turn { tls.servers.last?.text.isEmpty == false })
    tls.servers.last?.send("HTTP/1.1 204 No Content\r\n\r\n")
    #expect(tls.turn { first.isOver })
    tls.servers.last?.send("HTTP/1.1 204 No Content\r\n\r\n")
    let second = tls.rig.start()
    #expect(second.heard.isEmpty)
    #expect(tls.turn { second.heard == ["new"] })
  }

  @Test func `the beginning of a record on an idle TLS connection keeps the next request off it`() throws {
    let tls = try Rig()
    let first = tls.rig.start()
    #expect(tls.turn { tls.servers.last?.text.isEmpty == false })
    tls.servers.last?.send("HTTP/1.1 204 No Content\r\n\r\n")
    #expect(tls.turn { first.isOver })
    #expect(tls.rig.endpoint.idleConnections == 1)
    tls.servers.last?.peer.send([0x17, 0x03, 0x03])
    // Whether the loop has read it or not.
    tls.rig.turned.settle()
    let second = tls.rig.start()
    #expect(second.heard.isEmpty)
    #expect(tls.turn { second.heard == ["new"] })
  }

  @Test func `an endpoint's next connection resumes its session, another endpoint's does not`() throws {
    let tls = try Rig()
    for isResumed in [false, true] {
      let exchange = tls.rig.start(fresh: true)
      #expect(tls.turn { tls.servers.last?.text.isEmpty == false && exchange.heard == ["new"] })
      tls.servers.last?.send("HTTP/1.1 204 No Content\r\n\r\n")
      #expect(tls.turn { exchange.isOver })
      #expect(tls.servers.last?.isResumed == isResumed)
    }
    #expect(tls.servers.count == 2)
    let other = try UpstreamRig(
      origin: "https://127.0.0.1:\(tls.rig.listener.port)", listener: tls.rig.listener,
      tls: TLSContext(trusting: .file(Self.certificates.otherAuthority)))
    let stranger = other.start()
    var server: TLSPeer?
    #expect(
      other.turned.turn {
        if server == nil { server = tls.accept() }
        server?.pump()
        return stranger.isOver
      })
    #expect(stranger.failure == .tls("certificate not accepted: unable to get local issuer certificate"))
  }

  @Test func `a head and what is known of its body are one write of whole records`() throws {
    let tls = try Rig()
    let exchange = StreamExchange("PUT / HTTP/1.1\r\nContent-Length: 100000\r\n\r\n")
    exchange.body = [UInt8](repeating: 0x61, count: 100_000)
    exchange.start(on: tls.rig.endpoint)
    #expect(tls.turn { (tls.servers.last?.received.count ?? 0) >= 100_000 })
    #expect(tls.servers.last?.text.hasPrefix("PUT / HTTP/1.1\r\nContent-Length: 100000\r\n\r\naaaa") == true)
    #expect(tls.servers.last?.recordSizes.dropLast().allSatisfy { $0 == 16_384 } == true)
    exchange.cancel()
  }
}
