import EventLoop
import HTTPTransport
import HTTPWire
import LoopbackPeers
import Testing

/// Servers that offer sessions and fail when one is taken up: connecting must not fail for it (RFC 8446 §2.2).
struct TLSSessionFailureTests {
  private static let certificates = TestCertificates.shared

  /// What a server makes of a connection.
  enum Conduct { case serves, closes, resets, alerts, isSilent }

  /// An https endpoint, and a server that does with each connection as it is told.
  private final class Rig {
    let rig: UpstreamRig
    private let context: TLSContext
    /// For the next connections; those behind them are served.
    var conducts: [Conduct] = []
    private(set) var servers: [TLSPeer] = []
    private(set) var connections = 0
    private var bad: [(Peer, Conduct)] = []

    init(limits: UpstreamLimits = UpstreamLimits()) throws {
      let listener = try PeerListener()
      context = try TLSContext(
        serving: TLSIdentity(certificateChainFile: certificates.server, privateKeyFile: certificates.serverKey))
      rig = try UpstreamRig(
        origin: "https://127.0.0.1:\(listener.port)", listener: listener,
        tls: TLSContext(trusting: .file(certificates.authority)), limits: limits)
    }

    private func accept() {
      guard let peer = rig.listener.accept() else { return }
      connections += 1
      let conduct = conducts.isEmpty ? .serves : conducts.removeFirst()
      if conduct == .serves { servers.append(TLSPeer(peer, context)) } else { bad.append((peer, conduct)) }
    }

    /// Whoever is not served learns it when it has said hello.
    private func turnAway() {
      for (peer, conduct) in bad where !peer.text.isEmpty {
        peer.forgetReceived()
        switch conduct {
        case .closes: peer.finishSending()
        case .resets: peer.reset()
        case .alerts: peer.send([21, 3, 3, 0, 2, 2, 80])  // fatal, internal_error (RFC 8446 §6)
        case .isSilent, .serves: break
        }
      }
    }

    /// One request on a connection of its own, from the handshake to the answer.
    func call() -> StreamExchange {
      let exchange = rig.start(fresh: true)
      var answered = servers.count
      _ = rig.turned.turn {
        accept()
        turnAway()
        for server in servers { server.pump() }
        if servers.count > answered, servers.last?.text.isEmpty == false {
          servers.last?.send("HTTP/1.1 204 No Content\r\n\r\n")
          answered = servers.count
        }
        return exchange.isOver
      }
      return exchange
    }
  }

  @Test(arguments: [Conduct.closes, .resets, .alerts])
  func `a handshake that offered a session and failed is tried again without one`(conduct: Conduct) throws {
    let tls = try Rig()
    #expect(tls.call().heard == ["new", "head 204 fields 0", "end"])
    tls.conducts = [conduct]
    let exchange = tls.call()
    #expect(exchange.heard == ["new", "head 204 fields 0", "end"], "\(String(describing: exchange.failure))")
    #expect(tls.connections == 3)
    #expect(tls.servers.map(\.isResumed) == [false, false])
    // The sessions of the whole handshake are as good as any.
    #expect(tls.call().failure == nil)
    #expect(tls.servers.last?.isResumed == true)
  }

  @Test func `one that a server leaves unanswered is tried again within the time there is`() throws {
    var limits = UpstreamLimits()
    limits.connectNanoseconds = 2_000_000_000
    let tls = try Rig(limits: limits)
    #expect(tls.call().failure == nil)
    tls.conducts = [.isSilent]
    #expect(tls.call().failure == nil)
    #expect(tls.connections == 3)
    #expect(tls.servers.map(\.isResumed) == [false, false])
  }

  @Test(arguments: [Conduct.closes, .alerts])
  func `a second failure is told, and so is the first of a whole handshake`(conduct: Conduct) throws {
    let tls = try Rig()
    #expect(tls.call().failure == nil)
    tls.conducts = Array(repeating: conduct, count: 3)
    for connections in [3, 4] {
      let failure = tls.call().failure
      guard case .tls = failure else {
        Issue.record("\(String(describing: failure))")
        continue
      }
      #expect(tls.connections == connections)
    }
    #expect(tls.call().failure == nil)
  }

  @Test func `a server that stays silent is a connect timeout after the same time, with a session or without`() throws {
    var limits = UpstreamLimits()
    limits.connectNanoseconds = 400_000_000
    let tls = try Rig(limits: limits)
    #expect(tls.call().failure == nil)
    tls.conducts = Array(repeating: .isSilent, count: 3)
    for connections in [3, 4] {
      let began = SystemTime.monotonicNanoseconds
      #expect(tls.call().failure == .connectTimeout)
      #expect(tls.connections == connections)
      #expect(SystemTime.monotonicNanoseconds - began >= 350_000_000)
    }
  }
}
