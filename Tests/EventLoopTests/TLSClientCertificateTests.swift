import EventLoop
import LoopbackPeers
import Testing

/// Clients that show who they are. RFC 8446 §4.4.2, RFC 8705 §2
struct TLSClientCertificateTests {
  private static let certificates = TestCertificates.shared

  /// What a server that asks for a certificate of `clients` makes of a client that shows `identity`.
  private func meet(
    _ identity: TLSIdentity?, clients: TrustAnchors = .file(certificates.authority)
  ) throws -> (ending: IOResult?, answer: String, refusal: SocketFailure?) {
    let turned = TurnedLoop()
    let listener = try PeerListener()
    let server = try TLSContext(serving: Self.certificates.serverIdentity, clients: clients)
    let client = try TLSContext(trusting: .file(Self.certificates.authority), identity: identity)
    let recorder = SocketRecorder()
    recorder.socket = try StreamSocket(
      loop: turned.loop, connectingTo: listener.address, tls: TLSSession(client: client, serverName: "localhost"),
      delegate: recorder)
    recorder.onConnected = { $0.resumeReading() }
    var peer: TLSPeer?
    var isAnswered = false
    _ = turned.turn {
      if peer == nil { peer = listener.accept().map { TLSPeer($0, server) } }
      if let peer, peer.pump(), peer.refusal == nil, !isAnswered {
        isAnswered = true
        peer.send("welcome")
      }
      return recorder.text == "welcome" || recorder.ending != nil || !recorder.failures.isEmpty
    }
    return (recorder.ending, recorder.text, peer?.refusal)
  }

  @Test func `a client with a certificate that the server's authority issued is let in`() throws {
    for identity in [Self.certificates.client, Self.certificates.otherClient] {
      #expect(try meet(identity).answer == "welcome")
    }
  }

  @Test func `a client without a certificate learns that one is wanted`() throws {
    let outcome = try meet(nil)
    #expect(outcome.ending == .failed(.certificateRefused("tlsv13 alert certificate required")))
    #expect(outcome.refusal == .tls("peer did not return a certificate"))
  }

  @Test func `a client whose certificate the server does not know learns it, too`() throws {
    let outcome = try meet(Self.certificates.client, clients: .file(Self.certificates.otherAuthority))
    #expect(outcome.ending == .failed(.certificateRefused("tlsv1 alert unknown ca")))
  }

  @Test func `a key under a passphrase is an error of its own, in either form`() throws {
    for key in [Self.certificates.encryptedKey, Self.certificates.encryptedPKCS8] {
      let error = #expect(throws: TLSConfigurationError.self) {
        let identity = TLSIdentity(certificateChainFile: Self.certificates.server, privateKeyFile: key)
        return try TLSContext(trusting: .openSSL, identity: identity)
      }
      #expect(
        error?.description == "\(key): the private key is under a passphrase, and only one without can be read")
    }
  }

  @Test func `a key of another certificate is an error of its own`() throws {
    let (client, other) = (Self.certificates.client, Self.certificates.otherClient)
    let mixed = TLSIdentity(
      certificateChainFile: client.certificateChainFile, privateKeyFile: other.privateKeyFile)
    let error = #expect(throws: TLSConfigurationError.self) { try TLSContext(trusting: .openSSL, identity: mixed) }
    #expect(
      error?.description
        == "\(other.privateKeyFile): the private key does not belong to the certificate in \(client.certificateChainFile)"
    )
  }

  @Test func `files that are absent or hold something else are named`() throws {
    let folder = TemporaryFolder()
    let (missing, noise) = (folder.file("missing"), folder.write("noise", to: "noise"))
    let client = Self.certificates.client
    for (chain, key, blamed) in [
      (missing, client.privateKeyFile, missing), (noise, client.privateKeyFile, noise),
      (client.certificateChainFile, missing, missing), (client.certificateChainFile, noise, noise),
    ] {
      let error = #expect(throws: TLSConfigurationError.self) {
        try TLSTrust(.openSSL, identity: TLSIdentity(certificateChainFile: chain, privateKeyFile: key)).context()
      }
      guard case .unreadable(blamed, _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
    }
  }
}
