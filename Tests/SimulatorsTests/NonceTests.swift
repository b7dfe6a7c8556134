import HTTPWire
import Testing

@testable import Simulators

@Suite struct NonceTests {
  private func start(_ policy: NoncePolicy) throws -> (Simulation, TestClient, token: String) {
    let simulation = try Simulation.start()
    let client = TestClient(simulation)
    let token = try client.token()
    simulation.withSettings { $0.api.server.nonce = policy }
    simulation.journal.clear()
    return (simulation, client, token)
  }

  @Test func `both servers challenge as RFC 9449 says, with nonces of their own`() throws {
    let simulation = try Simulation.start(.init(nonces: .once))
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let atServer = try client.requestToken()
    #expect(atServer.status == 400)
    #expect(atServer.json["error"]?.stringValue == "use_dpop_nonce")
    let token = try client.token()
    let atAPI = try client.call(token: token)
    #expect(atAPI.status == 401)
    #expect(atAPI.challenges.first?["error"] == "use_dpop_nonce")
    #expect(atAPI.nonce != nil)
    #expect(atAPI.nonce != atServer.nonce)
    #expect(try client.call(token: token, nonce: atServer.nonce).status == 401)
    #expect(try client.call(token: token, nonce: atAPI.nonce).status == 200)
    #expect(
      simulation.journal.entries(role: .api).map(\.verdict) == [.nonceMissing, .nonceUnknown, .accepted])
  }

  @Test func `once: one nonce stays good and is not repeated in answers`() throws {
    let (simulation, client, token) = try start(NoncePolicy(.once))
    defer { simulation.stop() }
    let nonce = try client.call(token: token).nonce
    for _ in 1...3 {
      let response = try client.call(token: token, nonce: nonce)
      #expect(response.status == 200)
      #expect(response.nonce == nil)
    }
  }

  @Test func `rotate: every accepted answer names the next nonce and the one before is bad`() throws {
    let (simulation, client, token) = try start(NoncePolicy(.rotate))
    defer { simulation.stop() }
    var nonce = try client.call(token: token).nonce
    for _ in 1...5 {
      let response = try client.call(token: token, nonce: nonce)
      #expect(response.status == 200)
      #expect(response.nonce != nonce)
      let stale = try client.call(token: token, nonce: nonce)
      #expect(stale.status == 401)
      #expect(stale.nonce == response.nonce)
      nonce = response.nonce
    }
  }

  @Test func `rotate with previous nonces accepted: those in flight survive a rotation`() throws {
    let (simulation, client, token) = try start(NoncePolicy(.rotate, previousAccepted: 2))
    defer { simulation.stop() }
    let first = try client.call(token: token).nonce
    let second = try client.call(token: token, nonce: first).nonce
    let third = try client.call(token: token, nonce: second).nonce
    #expect(try client.call(token: token, nonce: first).nonce == third)  // accepted, and no further rotation
    let fourth = try client.call(token: token, nonce: third).nonce
    #expect(try client.call(token: token, nonce: first).status == 401)
    #expect(try client.call(token: token, nonce: second).status == 200)
    #expect(try client.call(token: token, nonce: fourth).status == 200)
  }

  @Test func `always-challenge: each challenge is new and nothing is accepted`() throws {
    let (simulation, client, token) = try start(NoncePolicy(.alwaysChallenge))
    defer { simulation.stop() }
    var seen: Set<String> = []
    var nonce: String?
    for _ in 1...4 {
      let response = try client.call(token: token, nonce: nonce)
      #expect(response.status == 401)
      nonce = response.nonce
      seen.insert(nonce ?? "")
    }
    #expect(seen.count == 4)
  }

  @Test func `same-nonce: the challenge repeats the nonce it was given`() throws {
    let (simulation, client, token) = try start(NoncePolicy(.sameNonce))
    defer { simulation.stop() }
    let nonce = try client.call(token: token).nonce
    let again = try client.call(token: token, nonce: nonce)
    #expect(again.status == 401)
    #expect(again.nonce == nonce)
  }

  @Test func `offered: no nonce is needed, and a wrong one is challenged`() throws {
    let (simulation, client, token) = try start(NoncePolicy(.offered))
    defer { simulation.stop() }
    let response = try client.call(token: token)
    #expect(response.status == 200)
    #expect(try client.call(token: token, nonce: response.nonce).status == 200)
    #expect(try client.call(token: token, nonce: "wrong").status == 401)
  }

  @Test func `a nonce expires by the server's clock and by command`() throws {
    let (simulation, client, token) = try start(NoncePolicy(.once, lifetimeSeconds: 60))
    defer { simulation.stop() }
    let nonce = try client.call(token: token).nonce
    simulation.withSettings { $0.api.server.clockOffsetSeconds = 61 }
    let expired = try client.call(token: token, nonce: nonce, at: TestClient.now + 61)
    #expect(expired.status == 401)
    #expect(expired.nonce != nonce)
    #expect(try client.call(token: token, nonce: expired.nonce, at: TestClient.now + 61).status == 200)
    simulation.expireNonces(at: .api)
    #expect(try client.call(token: token, nonce: expired.nonce, at: TestClient.now + 61).status == 401)
  }

  @Test func `nonces may belong to a key`() throws {
    var policy = NoncePolicy(.once)
    policy.isPerKey = true
    let (simulation, client, token) = try start(policy)
    defer { simulation.stop() }
    let nonce = try client.call(token: token).nonce
    let other = TestClient(simulation)
    let foreign = try other.call(token: try other.token(), nonce: nonce)
    #expect(foreign.status == 401)
    #expect(foreign.nonce != nonce)
    #expect(try client.call(token: token, nonce: nonce).status == 200)
  }

  @Test func `a challenge may have another status, no nonce, two nonces or odd case`() throws {
    let (simulation, client, token) = try start(NoncePolicy(.once))
    defer { simulation.stop() }
    func challenge(_ change: @Sendable (inout NonceChallenge) -> Void) throws -> TestConnection.Response {
      simulation.withSettings {
        $0.api.server.nonce.challenge = NonceChallenge()
        change(&$0.api.server.nonce.challenge)
      }
      return try client.call(token: token)
    }
    #expect(try challenge { $0.status = 400 }.status == 400)
    #expect(try challenge { $0.nonceFields = .none }.values("dpop-nonce") == [])
    #expect(Set(try challenge { $0.nonceFields = .two }.values("dpop-nonce")).count == 2)
    let odd = try challenge { $0.hasOddCase = true }
    #expect(odd.values("www-authenticate").first?.hasPrefix(#"dpop ERROR="use_dpop_nonce""#) == true)
    #expect(odd.challenges.first?["error"] == "use_dpop_nonce")
  }

  @Test func `a challenge may be in the body alone, or in both places`() throws {
    let (simulation, client, token) = try start(NoncePolicy(.once))
    defer { simulation.stop() }
    simulation.withSettings { $0.api.server.nonce.challenge.place = .body }
    let inBody = try client.call(token: token)
    #expect(inBody.challenges == [])
    #expect(inBody.json["error"]?.stringValue == "use_dpop_nonce")
    #expect(inBody.nonce != nil)
    simulation.withSettings { $0.api.server.nonce.challenge.place = .both }
    let inBoth = try client.call(token: token)
    #expect(inBoth.challenges.count == 1)
    #expect(inBoth.json["error"]?.stringValue == "use_dpop_nonce")
  }

  @Test(arguments: [
    (NonceChallenge.BearerChallenge.beforeInOneLine, 1, ["Bearer", "DPoP"]), (.afterInOneLine, 1, ["DPoP", "Bearer"]),
    (.beforeInOwnLine, 2, ["Bearer", "DPoP"]), (.afterInOwnLine, 2, ["DPoP", "Bearer"]),
  ])
  func `a Bearer challenge may stand beside it, in every order`(
    place: NonceChallenge.BearerChallenge, lines: Int, schemes: [String]
  ) throws {
    let (simulation, client, token) = try start(NoncePolicy(.once))
    defer { simulation.stop() }
    simulation.withSettings { $0.api.server.nonce.challenge.bearer = place }
    let response = try client.call(token: token)
    #expect(response.values("www-authenticate").count == lines)
    #expect(response.challenges.map(\.scheme) == schemes)
    #expect(response.challenges.first { $0.isScheme("DPoP") }?["error"] == "use_dpop_nonce")
  }

  @Test func `an authorization server may challenge with 401 or without a nonce`() throws {
    let simulation = try Simulation.start(.init(nonces: .once))
    defer { simulation.stop() }
    let client = TestClient(simulation)
    simulation.withSettings { $0.authorizationServer.server.nonce.challenge.status = 401 }
    let response = try client.requestToken()
    #expect(response.status == 401)
    #expect(response.json["error"]?.stringValue == "use_dpop_nonce")
    #expect(response.challenges.first?["error"] == "use_dpop_nonce")
    simulation.withSettings { $0.authorizationServer.server.nonce.challenge.nonceFields = .none }
    #expect(try client.requestToken().nonce == nil)
  }

  @Test func `the order of token and nonce is a setting`() throws {
    let (simulation, client, _) = try start(NoncePolicy(.once))
    defer { simulation.stop() }
    let proofFirst = try client.call(token: "unknown")
    #expect(proofFirst.challenges.first?["error"] == "use_dpop_nonce")
    simulation.withSettings { $0.api.judgesTokenFirst = true }
    let tokenFirst = try client.call(token: "unknown")
    #expect(tokenFirst.challenges.first?["error"] == "invalid_token")
  }
}
