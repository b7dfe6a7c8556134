import HTTPWire
import Testing

@testable import Simulators

/// Schemes, token types and challenges in every spelling. RFC 6750 §3, RFC 9110 §11, RFC 9449 §5, §7.1
@Suite(.timeLimit(.minutes(5))) struct SchemeCaseTests {
  @Test(arguments: ["bearer", "Bearer", "BEARER"])
  func `C49 a bearer token is sent as Bearer, however its type was spelt`(spelling: String) async throws {
    try await Scene.play(.bearer { $0.authorizationServer.tokenTypeSpelling = spelling }) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200)
      #expect(try scene.last().scheme == "Bearer")
      #expect(try scene.last().values(of: "dpop").isEmpty)
    }
  }

  @Test(arguments: ["DPOP", "dpop", "DPoP"])
  func `C50 a bound token is sent as DPoP, however its type was spelt`(spelling: String) async throws {
    try await Scene.play(.dpop { $0.authorizationServer.tokenTypeSpelling = spelling }) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200)
      #expect(try scene.last().scheme == "DPoP")
      #expect(try scene.last().values(of: "dpop").count == 1)
    }
  }

  @Test(arguments: ["Bearer", "bearer", "N_A", "mac", ""])
  func `C51 a token of another type than was asked for is not sent`(spelling: String) async throws {
    try await Scene.play(.dpop { $0.authorizationServer.tokenTypeSpelling = spelling }) { scene async throws in
      for _ in 0..<3 {
        let answer = try await scene.call("GET", "/api/echo")
        #expect(answer.status == 502)
        #expect(answer.code == "token_refused")
      }
      #expect(scene.arrived.isEmpty)
      // C71: and the server is not asked again at once.
      #expect(scene.tokenRequests.count == 1)
    }
  }

  @Test func `C51 unless allow_bearer says that a bearer token will do`() async throws {
    var setup = Setup.bearer()
    setup.credentials = Setup.machine("dpop: true, allow_bearer: true")
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200)
      #expect(try scene.last().scheme == "Bearer")
      #expect(try scene.last().values(of: "dpop").isEmpty)
    }
  }

  @Test(arguments: NonceChallenge.BearerChallenge.allCases, [false, true])
  func `C53 C55 C56 a nonce challenge is found beside others, wherever it stands and whatever its case`(
    bearer: NonceChallenge.BearerChallenge, hasOddCase: Bool
  ) async throws {
    let setup = Setup.dpop { settings in
      settings.api.server.nonce.mode = .once
      settings.api.server.nonce.challenge.bearer = bearer
      settings.api.server.nonce.challenge.hasOddCase = hasOddCase
    }
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(scene.tokenRequests.count == 1)
    }
  }

  /// `WWW-Authenticate` lines of a 401 that has a nonce, and whether they ask for it.
  @Test(arguments: [
    ([#"Basic realm="r", DPoP error="use_dpop_nonce", algs="ES256""#], true),
    ([#"Basic realm="a, DPoP error=\"use_dpop_nonce\"""#], false),
    ([#"DPoP algs="ES256 PS256", Bearer"#], false),
    ([#"Bearer"#, #"DPoP error="use_dpop_nonce""#], true),
    ([#"Negotiate dG9rZW42OA==, DPoP error=use_dpop_nonce"#], true),
    ([#"DPoP algs="ES256" , error = "use_dpop_nonce""#], true),
    ([#", ,DPoP  error="use_dpop_nonce",,"#], true),
    ([#"dpop ERROR="use_dpop_nonce""#], true),
    ([#"DPoP error="use\_dpop\_nonce""#], true),
    ([#"Bearer error="use_dpop_nonce""#], false),
    ([#"DPoP error="USE_DPOP_NONCE""#], false),
    ([#"DPoP error_description="use_dpop_nonce""#], false),
    ([#"DPoP algs="ES256", Bearer error="use_dpop_nonce""#], false),
  ])
  func `C53 the error of the scheme DPoP counts, and no other's`(lines: [String], asks: Bool) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let fields = (lines.map { ("WWW-Authenticate", $0) } + [("DPoP-Nonce", "n-0815")])
        .map { HTTPField(name: $0.0, value: $0.1) }
      scene.simulation.faults.add(.answer(.text(401, "no", fields: fields)), on: .api())
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == (asks ? 200 : 401))
      #expect(scene.arrived.count == (asks ? 2 : 1))
      if !asks { #expect(answer.values(of: "www-authenticate") == lines) }
    }
  }

  /// Keycloak, for one, names the scheme Bearer to a client that sent DPoP.
  @Test(arguments: [InvalidToken.Challenge.dpop, .bearer])
  func `a token refused by either scheme is replaced and the request sent again`(
    challenge: InvalidToken.Challenge
  ) async throws {
    try await Scene.play(
      .dpop(nonces: .once) { $0.api.invalidToken = InvalidToken(remaining: 1, challenge: challenge) }
    ) {
      scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .refusedBySetting, .accepted])
      #expect(scene.tokenRequests.filter { $0.verdict == .accepted }.count == 2)
    }
  }

  @Test func `a bare 401 to a young token is handed on`() async throws {
    try await Scene.play(.dpop { $0.api.invalidToken = InvalidToken(challenge: .bare) }) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 401)
      #expect(scene.arrived.count == 1)
      #expect(scene.tokenRequests.count == 1)
    }
  }

  @Test func `C70 a missing scope is handed on and costs no token`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      for _ in 0..<3 {
        let answer = try await client.call("GET", "/api/scope/admin")
        #expect(answer.status == 403)
        #expect(answer.values(of: "www-authenticate").first?.contains("insufficient_scope") == true)
      }
      #expect(scene.arrived.count == 4)
      #expect(scene.tokenRequests.filter { $0.verdict == .accepted }.count == 1)
    }
  }
}
