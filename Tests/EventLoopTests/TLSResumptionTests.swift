import EventLoop
import LoopbackPeers
import Testing

/// Sessions that a server offered are taken up by the next connection to it (RFC 8446 §2.2).
struct TLSResumptionTests {
  private static let certificates = TestCertificates.shared

  /// One server's name, its sessions, and one connection after the other to it.
  private final class Rig {
    let turned = TurnedLoop()
    let listener: PeerListener
    let client: TLSContext
    let sessions = TLSSessionStore()
    var server: TLSContext
    private var recorders: [SocketRecorder] = []

    init() throws {
      listener = try PeerListener()
      client = try TLSContext(trusting: .file(certificates.authority))
      server = try Self.makeServer()
    }

    static func makeServer(_ certificate: String = certificates.server) throws -> TLSContext {
      try TLSContext(serving: TLSIdentity(certificateChainFile: certificate, privateKeyFile: certificates.serverKey))
    }

    /// Connects, and reads what the server says, its tickets with it.
    func connect() throws -> (recorder: SocketRecorder, server: TLSPeer?) {
      let recorder = SocketRecorder()
      recorders.append(recorder)
      recorder.socket = try StreamSocket(
        loop: turned.loop, connectingTo: listener.address,
        tls: TLSSession(client: client, serverName: "localhost", sessions: sessions), delegate: recorder)
      recorder.socket?.resumeReading()
      var peer: TLSPeer?
      _ = turned.turn {
        if peer == nil { peer = listener.accept().map { TLSPeer($0, server) } }
        peer?.pump()
        return recorder.connected + recorder.failures.count > 0
      }
      peer?.send("hello")
      _ = turned.turn { recorder.text == "hello" || !recorder.failures.isEmpty }
      return (recorder, peer)
    }
  }

  @Test func `the second connection resumes, each ticket serves once, and each connection brings new ones`() throws {
    let rig = try Rig()
    let first = try rig.connect()
    #expect(first.server?.isResumed == false)
    #expect(rig.sessions.count == 2)
    let second = try rig.connect()
    #expect(second.server?.isResumed == true)
    #expect(second.recorder.text == "hello")
    // One was used, and a resumed connection brings one.
    #expect(rig.sessions.count == 2)
  }

  @Test func `no more than eight sessions are kept`() throws {
    let rig = try Rig()
    for _ in 0..<10 {
      let connection = try rig.connect()
      #expect(connection.recorder.failures.isEmpty)
      #expect(connection.server?.isResumed == false)
      // Another server each time: none of them resumes.
      rig.server = try Rig.makeServer()
    }
    #expect(rig.sessions.count == 8)
  }

  @Test func `a server that does not know the ticket gets a whole handshake`() throws {
    let rig = try Rig()
    _ = try rig.connect()
    rig.server = try Rig.makeServer()
    let second = try rig.connect()
    #expect(second.server?.isResumed == false)
    #expect(second.recorder.failures.isEmpty)
    #expect(second.recorder.text == "hello")
  }

  @Test func `a server that does not know the ticket must show a certificate that is accepted`() throws {
    let rig = try Rig()
    _ = try rig.connect()
    rig.server = try Rig.makeServer(Self.certificates.expiredServer)
    let second = try rig.connect()
    #expect(second.recorder.failures == [.tls("certificate not accepted: certificate has expired")])
    #expect(rig.sessions.count == 0)
  }

  @Test func `a refused certificate leaves no session`() throws {
    let rig = try Rig()
    rig.server = try Rig.makeServer(Self.certificates.expiredServer)
    _ = try rig.connect()
    #expect(rig.sessions.count == 0)
  }

  @Test func `a connection that was torn off, by whichever side, leaves sessions that work`() throws {
    for isOurs in [true, false] {
      let rig = try Rig()
      let first = try rig.connect()
      if isOurs {
        first.recorder.socket?.closeAbortively()
      } else {
        first.server?.peer.close()
        #expect(rig.turned.turn { first.recorder.ending == .failed(.truncated) })
      }
      rig.turned.settle()
      for _ in 0..<2 { #expect(try rig.connect().server?.isResumed == true) }
    }
  }
}
