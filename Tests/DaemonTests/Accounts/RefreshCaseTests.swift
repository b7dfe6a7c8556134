import Credentials
import Cryptography
import HTTPWire
import Testing

@testable import Simulators

/// What went wrong with refreshes elsewhere: logins in the store, a server that rotates and takes a refresh token that comes
/// twice for a theft. RFC 6749 §6, RFC 9700 §4.14.2
@Suite(.timeLimit(.minutes(5))) struct RefreshCaseTests {
  @Test func `C61 a restart does not revive a token that expired meanwhile`() async throws {
    let setup = Setup.login(nonces: .once) { settings in
      settings.authorizationServer.tokenLifetimeSeconds = 1
      // It would take the old token for longer: what counts is that it is not sent.
      settings.api.server.clockOffsetSeconds = -60
      settings.api.server.proofAgeSecondsMax = 120
      settings.api.server.proofLeadSecondsMax = 120
    }
    try await Scene.play(setup) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      let first = try scene.last().token
      try await scene.restart()
      try await Task.sleep(for: .milliseconds(1_100))  // the life of the token
      scene.simulation.journal.clear()
      try await scene.restart()
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(!scene.arrived.contains { $0.token == first })
    }
  }

  @Test func `C61 a restart takes up a token that is still good, and asks for no other`() async throws {
    try await Scene.play(.login(nonces: .once)) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      let first = try scene.last().token
      scene.simulation.journal.clear()
      try await scene.restart()
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(try scene.last().token == first)
      #expect(scene.tokenRequests.isEmpty)
    }
  }

  @Test func `C63 fifty parallel requests at expiry are one refresh, and all succeed`() async throws {
    var setup = Setup.login { $0.authorizationServer.tokenLifetimeSeconds = 1 }
    setup.threads = 2
    try await Scene.play(setup) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      scene.simulation.withSettings { $0.authorizationServer.tokenLifetimeSeconds = 300 }
      scene.simulation.journal.clear()
      try await Task.sleep(for: .milliseconds(1_100))  // the life of the token
      scene.simulation.journal.clear()
      let answers = try await scene.callAll(50, "/api/echo")
      #expect(answers.count == 50 && answers.allSatisfy { $0.status == 200 })
      #expect(scene.tokenRequests.count <= 1)
      #expect(Set(scene.arrived.map(\.token)).count == 1)
      #expect(scene.simulation.grants.map(\.reuseCount) == [0])
    }
  }

  @Test func `C63 fifty parallel requests whose token the API refuses are one refresh and fifty replays`() async throws
  {
    try await Scene.play(.login(nonces: .once)) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      let revoked = try scene.last().token
      scene.simulation.revokeTokens()
      scene.simulation.journal.clear()
      let answers = try await scene.callAll(50, "/api/echo")
      #expect(answers.count == 50 && answers.allSatisfy { $0.status == 200 })
      #expect(scene.refreshes.map(\.verdict) == [.accepted])
      let served = scene.arrived.filter { $0.verdict == .accepted }
      #expect(served.count == 50 && Set(served.map(\.token)).count == 1 && served[0].token != revoked)
      for entry in served { #expect(try SentProof(entry).ath == TokenHash.of(entry)) }
      #expect(Set(try scene.arrived.compactMap { try SentProof($0).jti }).count == scene.arrived.count)
      #expect(scene.simulation.grants.map(\.reuseCount) == [0])
    }
  }

  @Test func `a token refused inside a POST is refreshed, and the body sent again with the new one`() async throws {
    try await Scene.play(.login(nonces: .rotate)) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 200)
      scene.simulation.revokeTokens()
      scene.simulation.journal.clear()
      let body = Array("what was said once".utf8)
      #expect(try await client.call("POST", "/api/upload", body: body).status == 200)
      #expect(scene.arrived.map(\.verdict) == [.tokenRevoked, .accepted])
      #expect(scene.arrived.allSatisfy { $0.body?.kept == body })
      #expect(Set(scene.arrived.map(\.token)).count == 2)
      #expect(scene.refreshes.count == 1)
    }
  }

  @Test func `C65 every restart goes on from the refresh token that came last`() async throws {
    try await Scene.play(.login(nonces: .rotate)) { scene async throws in
      for round in 1...4 {
        scene.simulation.revokeTokens()
        #expect(try await scene.call("GET", "/api/echo").status == 200)
        let grant = try #require(scene.simulation.grants.first)
        #expect(grant.isAlive && grant.rotation >= round)
        #expect(try scene.grant().record.rotation == Int64(grant.rotation))
        try await scene.restart()
      }
      #expect(scene.simulation.grants.map(\.reuseCount) == [0])
      #expect(Set(try scene.arrived.map { try SentProof($0).thumbprint }).count == 1)
    }
  }

  private static func answer(_ status: Int, _ body: String) -> Fault {
    let type = HTTPField(name: "Content-Type", value: "application/json")
    return .answer(Answer(status: status, fields: [type], body: .bytes(Array(body.utf8))))
  }

  @Test(arguments: [
    Fault.status(500), .drop(.before, .reset), .drop(.before, .close), Self.answer(200, "<html>"),
    Self.answer(200, "{}"), Self.answer(401, #"{"error":"invalid_client"}"#), Self.answer(429, "slow down"),
    Self.answer(503, #"{"error":"temporarily_unavailable"}"#), .raw(Array("garbage".utf8), keepsOpen: false),
  ])
  func `C67 a refresh that fails takes nothing from the store`(fault: Fault) async throws {
    let setup = Setup.login { $0.authorizationServer.refresh.overlapSeconds = 60 }
    try await Scene.play(setup.adding(fault)) { scene async throws in
      let refused = try await scene.call("GET", "/api/echo")
      #expect([502, 503].contains(refused.status))
      #expect(["token_unavailable", "token_refused"].contains(refused.code))
      let kept = try scene.grant()
      #expect(kept.record.condition == .usable && kept.record.rotation == 0)
      #expect(kept.secrets.refreshToken != nil && kept.secrets.idToken != nil)
      #expect(scene.arrived.isEmpty)

      scene.simulation.faults.removeAll()
      try await scene.restart()
      #expect(try await scene.call("GET", "/api/echo").status == 200)
    }
  }

  @Test(arguments: [RefreshPolicy.Rotation.never, .same])
  func `C68 P1 an answer that omits the refresh token or the ID token leaves those there are`(
    rotation: RefreshPolicy.Rotation
  ) async throws {
    let setup = Setup.login { settings in
      settings.authorizationServer.refresh.rotation = rotation
      settings.authorizationServer.idToken = .first
    }
    try await Scene.play(setup) { scene async throws in
      try await scene.warmUp()
      let before = try scene.grant().secrets
      for _ in 1...3 {
        scene.simulation.revokeTokens()
        try await scene.restart()
        #expect(try await scene.call("GET", "/api/echo").status == 200)
      }
      #expect(scene.simulation.grants.map(\.refreshCount) == [4])
      let after = try scene.grant()
      #expect(after.secrets.refreshToken == before.refreshToken && after.record.rotation == 0)
      #expect(after.secrets.idToken == before.idToken && after.secrets.idToken != nil)
      #expect(Set(scene.refreshes.map { $0.formValue("refresh_token") }).count == 1)
    }
  }

  @Test func `C70 a missing scope is handed on and costs no refresh`() async throws {
    try await Scene.play(.login()) { scene async throws in
      try await scene.warmUp()
      let client = try scene.connect()
      for answer in try await client.call(times: 3, "/api/scope/admin") {
        #expect(answer.status == 403)
        #expect(answer.values(of: "www-authenticate").first?.contains("insufficient_scope") == true)
      }
      #expect(scene.arrived.count == 3 && scene.refreshes.count == 1)
    }
  }

  @Test(arguments: [
    ("invalid_client", 502, "token_refused"), ("unauthorized_client", 502, "token_refused"),
    ("invalid_scope", 502, "token_refused"), ("invalid_grant", 511, "login_required"),
  ])
  func `C71 a refresh that is refused is tried once, and the request told why`(
    error: String, status: Int, code: String
  ) async throws {
    let fault = Self.answer(400, #"{"error":"\#(error)"}"#)
    try await Scene.play(Setup.login().adding(fault)) { scene async throws in
      for answer in try await scene.callAll(20, "/api/echo") {
        #expect(answer.status == status)
        #expect(answer.code == code)
      }
      #expect(scene.tokenRequests.count == 1)
      #expect(scene.arrived.isEmpty)
      #expect(try scene.grant().secrets.refreshToken != nil)
    }
  }
}

extension Setup {
  /// With this fault at the token endpoint for as long as it is not taken away.
  func adding(_ fault: Fault) -> Setup {
    var setup = self
    setup.prepare = { [prepare] simulation, directory in
      try prepare(simulation, directory)
      simulation.faults.add(fault, next: nil, on: .token)
    }
    return setup
  }
}
