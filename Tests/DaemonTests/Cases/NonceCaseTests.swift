import HTTPWire
import Testing

@testable import Simulators

/// What went wrong with nonces elsewhere, case by case, counted at the simulator's journal. RFC 9449 §8, §9
@Suite(.timeLimit(.minutes(5))) struct NonceCaseTests {
  @Test func `C1 the nonce of a successful retry is kept: ten requests are ten upstream hits`() async throws {
    try await Scene.play(.dpop(nonces: .rotate)) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      let answers = try await client.call(times: 10, "/api/echo")
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(scene.arrived.dropFirst(2).map(\.verdict) == Array(repeating: .accepted, count: 10))
    }
  }

  @Test func `C2 so is that of a POST that was refused with 401 first`() async throws {
    try await Scene.play(.dpop(nonces: .rotate)) { scene async throws in
      let client = try scene.connect()
      for index in 0...10 {
        let body = Array("body \(index)".utf8)
        #expect(try await client.call("POST", "/api/upload", body: body).status == 200)
        #expect(try scene.last().body?.kept == body)
      }
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing] + Array(repeating: .accepted, count: 11))
    }
  }

  @Test func `C4 a nonce that was good and is not any more costs one retry`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call(times: 3, "/api/echo")
      scene.simulation.expireNonces(at: .api)
      scene.simulation.journal.clear()
      let answers = try await client.call(times: 3, "/api/echo")
      #expect(answers.map(\.status) == [200, 200, 200])
      #expect(scene.arrived.map(\.verdict) == [.nonceUnknown, .accepted, .accepted, .accepted])
    }
  }

  @Test func `C5 so it is at the token endpoint`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      _ = try await scene.call("GET", "/api/echo")
      scene.simulation.expireNonces(at: .authorizationServer)
      scene.simulation.revokeTokens()
      scene.simulation.journal.clear()
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.tokenRequests.map(\.verdict) == [.nonceUnknown, .accepted])
      #expect(scene.arrived.map(\.verdict) == [.tokenRevoked, .accepted])
    }
  }

  @Test func `C6 nonces of the authorization server and of the API are kept apart`() async throws {
    try await Scene.play(.dpop(nonces: .rotate)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call(times: 3, "/api/echo")
      scene.simulation.revokeTokens()
      let answers = try await client.call(times: 3, "/api/echo")
      #expect(answers.map(\.status) == [200, 200, 200])
      let api = Set(try scene.arrived.compactMap { try SentProof($0).nonce })
      let server = Set(try scene.tokenRequests.compactMap { try SentProof($0).nonce })
      #expect(!api.isEmpty && !server.isEmpty && api.isDisjoint(with: server))
      #expect(scene.tokenRequests.map(\.verdict) == [.nonceMissing, .accepted, .accepted])
      #expect(scene.arrived.filter { $0.verdict == .nonceMissing || $0.verdict == .nonceUnknown }.count == 1)
    }
  }

  @Test func `C8 a retry takes its own request's token, whoever else is served meanwhile`() async throws {
    var setup = Setup.dpop(nonces: .once) { settings in
      settings.api.server.nonce.isPerKey = true
      settings.authorizationServer.clients = [
        SimulatedClient(id: "first", secret: "first-secret"), SimulatedClient(id: "other", secret: "other-secret"),
      ]
    }
    setup.credentials = ["first", "other"].map { name in
      "\(name): {provider: oidc, issuer: \"$AS\", grant: client_credentials, client_id: \(name), tls: {ca: $DIR/ca.pem}, "
        + "client_secret: \(name)-secret, dpop: true}"
    }.joined(separator: "\n")
    setup.routes = ["first", "other"].map { "\($0): {path: /\($0), upstream: \"$API/echo/\($0)\", credential: \($0)}" }
      .joined(separator: "\n")
    try await Scene.play(setup) { scene async throws in
      scene.simulation.faults.add(.hold(.after, gate: "challenge"), on: .api("/echo/first"))
      async let first = scene.call("GET", "/first/1")
      let isChallenged = await scene.simulation.journal.wait { entries in
        entries.contains { $0.path == "/echo/first/1" && $0.verdict == .nonceMissing }
      }
      #expect(isChallenged)
      for _ in 0..<3 { #expect(try await scene.call("GET", "/other/1").status == 200) }
      scene.simulation.faults.gates.open("challenge")
      #expect(try await first.status == 200)
      for name in ["first", "other"] {
        let entries = scene.arrived.filter { $0.path == "/echo/\(name)/1" }
        #expect(Set(entries.map(\.token)).count == 1)
        #expect(Set(try entries.map { try SentProof($0).thumbprint }).count == 1)
        for entry in entries { #expect(try SentProof(entry).ath == TokenHash.of(entry)) }
      }
      #expect(Set(scene.arrived.map(\.token)).count == 2)
      #expect(scene.arrived.filter { $0.verdict != .accepted && $0.verdict != .nonceMissing }.isEmpty)
    }
  }

  @Test(arguments: ["basic", "post", "none"])
  func `C10 the token endpoint's challenge is answered however the client authenticates itself`(
    method: String
  ) async throws {
    var setup = Setup.dpop(nonces: .once) { $0.authorizationServer.clients.append(SimulatedClient(id: "public")) }
    setup.credentials =
      method == "none"
      ? "machine: {provider: oidc, issuer: \"$AS\", grant: client_credentials, client_id: public, dpop: true}"
      : Setup.machine("client_auth: \(method), dpop: true")
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200)
      #expect(scene.tokenRequests.map(\.verdict) == [.nonceMissing, .accepted])
    }
  }

  @Test func `C11 a challenge of the token endpoint without a nonce is one token request`() async throws {
    let setup = Setup.dpop(nonces: .once) { $0.authorizationServer.server.nonce.challenge.nonceFields = .none }
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.code == "token_refused")
      #expect(scene.tokenRequests.map(\.verdict) == [.nonceMissing])
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test(arguments: [NonceMode.alwaysChallenge, .sameNonce])
  func `C12 an API that challenges for ever gets two sends and its 401 is handed on`(mode: NonceMode) async throws {
    let setup = Setup.dpop { $0.api.server.nonce.mode = mode }
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 401)
      #expect(answer.values(of: "www-authenticate").first?.contains("use_dpop_nonce") == true)
      #expect(answer.values(of: "dpop-nonce").isEmpty)
      #expect(answer.code == nil)
      #expect(scene.arrived.count == 2)
      // The second request knows a nonce. If it is the one that is asked for again, there is nothing to try.
      _ = try await scene.call("GET", "/api/echo")
      #expect(scene.arrived.count == (mode == .sameNonce ? 3 : 4))
    }
  }

  @Test(arguments: [Role.api, .authorizationServer], [400, 401])
  func `C14 C15 a challenge may have either status at either server`(role: Role, status: Int) async throws {
    let setup = Setup.dpop(nonces: .once) { settings in
      if role == .api {
        settings.api.server.nonce.challenge.status = status
      } else {
        settings.authorizationServer.server.nonce.challenge.status = status
      }
    }
    try await Scene.play(setup) { scene async throws in
      #expect(try await scene.call("POST", "/api/upload", body: [1, 2, 3]).status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(scene.tokenRequests.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(scene.arrived.first?.status == (role == .api ? status : 401))
      #expect(scene.tokenRequests.first?.status == (role == .authorizationServer ? status : 400))
    }
  }

  @Test(arguments: [400, 401], [NonceChallenge.NonceFields.one, .none])
  func `C16 a challenge in the body alone counts beside a nonce`(
    status: Int, fields: NonceChallenge.NonceFields
  ) async throws {
    let setup = Setup.dpop { settings in
      settings.api.server.nonce.mode = .once
      settings.api.server.nonce.challenge.place = .body
      settings.api.server.nonce.challenge.status = status
      settings.api.server.nonce.challenge.nonceFields = fields
    }
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      if fields == .one {
        #expect(answer.status == 200)
        #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      } else {
        #expect(answer.status == status)
        #expect(answer.json["error"]?.stringValue == "use_dpop_nonce")
        #expect(scene.arrived.map(\.verdict) == [.nonceMissing])
      }
    }
  }

  @Test(arguments: [
    #"DPoP error="invalid_dpop_proof", error_description="use_dpop_nonce""#,
    #"DPoP algs="ES256", note="use_dpop_nonce""#,
  ])
  func `C20 a proof refused for another reason is not sent again, and its nonce is kept`(
    challenge: String
  ) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let fields = [
        HTTPField(name: "WWW-Authenticate", value: challenge), HTTPField(name: "DPoP-Nonce", value: "the-next-one"),
      ]
      scene.simulation.faults.add(.answer(.text(401, "no", fields: fields)), on: .api())
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 401)
      #expect(answer.values(of: "www-authenticate") == [challenge])
      #expect(scene.arrived.count == 1)
      _ = try await scene.call("GET", "/api/echo")
      #expect(try SentProof(scene.last()).nonce == "the-next-one")
    }
  }

  @Test func `C22 a refused attempt shows nowhere but in the record of the request`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200)
      #expect(answer.values(of: "www-authenticate").isEmpty)
      let records = try await scene.records()
      #expect(records.count == 1)
      #expect(records.first?.status == 200)
      #expect(records.first?.attempts == 2)
      #expect(records.first?.auth.last == "nonce_retry")
      #expect(records.first?.auth.count == 2)
      #expect(records.first?.error == nil)
    }
  }

  @Test func `C23 the first token request has a proof already`() async throws {
    try await Scene.play(.dpop()) { scene async throws in
      _ = try await scene.call("GET", "/api/echo")
      #expect(scene.tokenRequests.map(\.verdict) == [.accepted])
      #expect(try SentProof(scene.tokenRequests[0]).nonce == nil)
    }
  }

  @Test func `C24 a 429 is the application's to repeat, and no two sends share a proof`() async throws {
    try await Scene.play(.dpop(nonces: .rotate)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call("GET", "/api/echo")
      let later = Answer.text(429, "later", fields: [HTTPField(name: "Retry-After", value: "0")])
      scene.simulation.faults.add(.answer(later), next: 3, on: .api())
      var statuses: [Int] = []
      for _ in 0..<4 { statuses.append(try await client.call("GET", "/api/echo").status) }
      #expect(statuses == [429, 429, 429, 200])
      #expect(scene.arrived.count == 6)
      #expect(Set(try scene.arrived.map { try SentProof($0).jti }).count == 6)
    }
  }

  @Test func `C27 the nonce of a token response is used for the next token request`() async throws {
    try await Scene.play(.dpop { $0.authorizationServer.server.nonce.mode = .rotate }) { scene async throws in
      _ = try await scene.call("GET", "/api/echo")
      scene.simulation.revokeTokens()
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.tokenRequests.map(\.verdict) == [.nonceMissing, .accepted, .accepted])
    }
  }

  @Test func `C28 every route of a DPoP credential sends the scheme DPoP and a proof`() async throws {
    let routes = """
      api: {path: /api, upstream: "$API", credential: machine}
      user: {path: /userinfo, upstream: "$API/echo/userinfo", credential: machine}
      hosted: {upstream: "$API/echo", credential: machine, audience: "$API"}
      """
    try await Scene.play(.dpop(nonces: .once, routes: routes)) { scene async throws in
      for (method, target) in [
        ("GET", "/api/echo"), ("POST", "/userinfo"), ("DELETE", "/api/echo/1"), ("HEAD", "/userinfo/x"),
      ] {
        #expect(try await scene.call(method, target).status == 200)
      }
      let client = try scene.connect()
      try await client.send(client.head("GET", "/x", host: "hosted.localhost:\(scene.port)"))
      #expect(try await client.read().status == 200)
      #expect(scene.arrived.count >= 5)
      for entry in scene.arrived {
        #expect(entry.scheme == "DPoP")
        #expect(entry.values(of: "authorization").count == 1)
        #expect(entry.values(of: "dpop").count == 1)
      }
    }
  }

  @Test func `C29 proofs for the API have ath, proofs for the token endpoint don't`() async throws {
    try await Scene.play(.dpop(nonces: .rotate)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call(times: 5, "/api/echo")
      for entry in scene.arrived { #expect(try SentProof(entry).ath == TokenHash.of(entry)) }
      for entry in scene.tokenRequests { #expect(try SentProof(entry).claims["ath"] == nil) }
    }
  }

  @Test func `C30 two DPoP-Nonce fields are as good as none`() async throws {
    let setup = Setup.dpop { settings in
      settings.api.server.nonce.mode = .once
      settings.api.server.nonce.challenge.nonceFields = .two
    }
    try await Scene.play(setup) { scene async throws in
      let two = ["one", "two"].map { HTTPField(name: "DPoP-Nonce", value: $0) }
      scene.simulation.faults.add(.answer(.text(200, "ok", fields: two)), on: .api())
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 200)
      let answer = try await client.call("GET", "/api/echo")
      #expect(answer.status == 401)
      #expect(answer.values(of: "dpop-nonce").isEmpty)
      #expect(scene.arrived.count == 2)
      #expect(try SentProof(scene.last()).nonce == nil)
    }
  }
}
