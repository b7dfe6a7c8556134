import HTTPWire
import LoopbackPeers
import Testing

@testable import Simulators

/// Clients that show themselves by a certificate. RFC 8705 §2
@Suite(.timeLimit(.minutes(5))) struct MutualTLSTests {
  /// The simulator knows the client by its identifier alone: it is the front that looks at certificates.
  private static func setup(_ grant: GrantCase, _ front: TLSFront, certificate: Bool) throws -> Setup {
    var setup = try grant.setup(.none, nonces: .once)
    let certificates = TestCertificates.shared
    let (client, ca) = (certificates.client, certificates.authority)
    let own = ", certificate: \"\(client.certificateChainFile)\", key: \"\(client.privateKeyFile)\""
    setup.credentials = setup.credentials.replacing("\"$AS\"", with: "\"\(front.url)\"")
      .replacing("{ca: $DIR/ca.pem}", with: "{ca: \"\(ca)\"\(certificate ? own : "")}")
      .replacing("client_auth: none", with: certificate ? "client_auth: tls" : "client_auth: none")
    setup.simulation.settings.authorizationServer.server.externalURL = front.url
    setup.simulation.settings.authorizationServer.server.hosts = ["127.0.0.1:\(front.port)"]
    setup.prepare = { [prepare = setup.prepare] simulation, directory in
      front.stand(before: simulation.authorizationServer.port)
      try prepare(simulation, directory)
    }
    return setup
  }

  @Test(arguments: [GrantCase.clientCredentials, .assertionSigned, .exchangeWithActor, .password])
  func `C10 a client shows its certificate, and its nonce challenge is answered`(grant: GrantCase) async throws {
    let front = try TLSFront()
    try await Scene.play(try Self.setup(grant, front, certificate: true)) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200, "\(answer.text)")
      #expect(scene.tokenRequests.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(scene.tokenRequests.allSatisfy { $0.formValue("client_id") == "svc" })
      #expect(scene.tokenRequests.allSatisfy { $0.formValue("client_assertion") == nil })
      #expect(front.clientCount >= 1)
    }
  }

  @Test func `without the certificate nothing is asked for and nothing sent`() async throws {
    let front = try TLSFront()
    try await Scene.play(try Self.setup(.clientCredentials, front, certificate: false)) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 503 && answer.code == "token_unavailable")
      #expect(scene.tokenRequests.isEmpty && scene.arrived.isEmpty)
      #expect(front.clientCount == 0)
    }
  }
}
