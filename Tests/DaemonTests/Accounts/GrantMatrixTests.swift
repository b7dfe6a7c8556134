import Cryptography
import HTTPWire
import Testing

@testable import Simulators

/// Every grant with every client authentication, from the configuration to the API. RFC 6749 §4, §6, RFC 7523, RFC 8693
@Suite(.timeLimit(.minutes(5))) struct GrantMatrixTests {
  @Test(arguments: GrantCase.allCases, ClientMethod.allCases)
  func
    `C10 C26 P17 P22 a nonce challenge is answered once, with another proof, another client assertion and the same body`(
      grant: GrantCase, method: ClientMethod
    ) async throws
  {
    try await Scene.play(try grant.setup(method, nonces: .once)) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200, "\(answer.text)")
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(try scene.last().tokenClaim("sub")?.stringValue == grant.subject(client: "svc"))

      let requests = scene.tokenRequests.filter { $0.tokenRequest?.grantType == grant.grantType }
      #expect(requests.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(Set(try requests.map { try SentProof($0).jti }).count == 2)
      // The grant's key signs at both servers.
      #expect(Set(try (requests + scene.arrived).map { try SentProof($0).thumbprint }).count == 1)
      let constant = requests.map { $0.form.filter { !["assertion", "client_assertion"].contains($0.0) }.map(\.1) }
      #expect(constant[0] == constant[1])

      for name in ["assertion", "client_assertion"] {
        let assertions = requests.compactMap { $0.formValue(name) }
        let isAnew = name == "client_assertion" || grant == .assertionSigned
        #expect(Set(assertions).count == (isAnew ? assertions.count : min(assertions.count, 1)))
      }
      let assertion = requests[1].formValue("client_assertion")
      let header = assertion.flatMap { $0.split(separator: ".").first }.flatMap { Base64URL.decode($0) }
      #expect(try header.map { try JSONValue(parsing: $0) }?["alg"]?.stringValue == method.algorithm)
    }
  }

  @Test(arguments: GrantCase.allCases)
  func `a token that the API refuses is fetched anew by the same grant, and the request sent again`(
    grant: GrantCase
  ) async throws {
    try await Scene.play(try grant.setup(.es256, nonces: .rotate)) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      scene.simulation.revokeTokens()
      scene.simulation.journal.clear()
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.map(\.verdict) == [.tokenRevoked, .accepted])
    }
  }

  @Test func `an exchange with an actor says both, and the token tells who acts`() async throws {
    try await Scene.play(try GrantCase.exchangeWithActor.setup(.basic, nonces: .off)) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      let request = try #require(scene.tokenRequests.first)
      #expect(request.formValue("subject_token_type") == "urn:ietf:params:oauth:token-type:access_token")
      #expect(request.formValue("actor_token_type") == "urn:ietf:params:oauth:token-type:jwt")
      #expect(try scene.last().tokenClaim("act")?["sub"]?.stringValue == "robot")
    }
  }

  @Test func `an assertion signed here has what the configuration says, and is good for as long`() async throws {
    try await Scene.play(try GrantCase.assertionSigned.setup(.none, nonces: .off)) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      let compact = try #require(scene.tokenRequests.first?.formValue("assertion"))
      let claims = try JSONValue(parsing: try JSONWebSignature(compact: compact).payload)
      #expect(claims["iss"]?.stringValue == GrantCase.assertionIssuer)
      #expect(claims["sub"]?.stringValue == "ada" && claims["tenant"]?.stringValue == "t-1")
      #expect(claims["aud"]?.stringValue == "\(scene.simulation.authorizationServer.url)/token")
      let (issued, expires) = (claims["iat"]?.int64Value, claims["exp"]?.int64Value)
      #expect(try #require(expires) - (try #require(issued)) == 30)
    }
  }
}
