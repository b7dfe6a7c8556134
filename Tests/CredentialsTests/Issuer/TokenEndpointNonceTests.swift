import HTTPWire
import OAuth
import Testing

@testable import Credentials

/// A token endpoint with a way of its own to treat nonces.
struct NonceCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// The requests it takes to get `tokens` tokens, one after another.
  let requests: Int
  var tokens = 3
  let answer: @Sendable (_ sent: String?, _ number: Int) -> HTTPResponse
}

struct TokenEndpointNonceTests {
  static let served: [NonceCase] = [
    NonceCase(testDescription: "no nonce", requests: 3) { _, n in .token("t\(n)") },
    NonceCase(testDescription: "a nonce once", requests: 4) { sent, n in
      sent == "n" ? .token("t\(n)") : .nonceChallenge("n")
    },
    NonceCase(testDescription: "C1 C27 a new nonce with every token", requests: 4) { sent, n in
      sent == nil ? .nonceChallenge("n0") : .token("t\(n)", [("DPoP-Nonce", "n\(n)")])
    },
    NonceCase(testDescription: "a nonce given with the first token", requests: 3) { sent, n in
      n == 1 ? .token("t", [("DPoP-Nonce", "n")]) : sent == "n" ? .token("t\(n)") : HTTPResponse(500, "")
    },
    NonceCase(testDescription: "C15 challenged with 401", requests: 4) { sent, n in
      sent == "n" ? .token("t\(n)") : .nonceChallenge("n", status: 401)
    },
    NonceCase(testDescription: "C5 the nonce has expired each time", requests: 6) { sent, n in
      n % 2 == 1 ? .nonceChallenge("n\(n)") : sent == "n\(n - 1)" ? .token("t\(n)") : HTTPResponse(500, "")
    },
    NonceCase(testDescription: "a nonce with an error counts for the next", requests: 1, tokens: 1) { _, n in
      .token("t\(n)", [("DPoP-Nonce", "n")])
    },
  ]

  @Test(arguments: served)
  func `a token endpoint's nonces cost no more than they must`(nonceCase: NonceCase) async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { request, number in
        let sent = (try? request.proof())?.claims["nonce"]?.stringValue
        return .success(nonceCase.answer(sent, number))
      })
    for _ in 0..<nonceCase.tokens { _ = try await fixture.renewed() }
    #expect(fixture.server.tokenRequests.count == nonceCase.requests)
    let jtis = try fixture.server.tokenRequests.map { try $0.proof()?.claims["jti"]?.stringValue }
    #expect(Set(jtis).count == nonceCase.requests)
  }

  @Test(arguments: [
    (HTTPResponse.nonceChallenge(), 1), (.nonceChallenge(status: 401), 1),
    (.nonceChallenge("n", "n"), 1), (.nonceChallenge("a", "b"), 1),
    (.nonceChallenge("n"), 2),
    (.nonceChallenge(""), 1),
  ])
  func `C11 C30 a challenge that can't be met is a refusal after so many requests`(
    answer: HTTPResponse, requests: Int
  ) async throws {
    let fixture = try OAuthClientFixture(server: ScriptedServer { _, _ in .success(answer) })
    guard case .refused = await fixture.failure() else {
      Issue.record("not refused")
      return
    }
    #expect(fixture.server.tokenRequests.count == requests)
    #expect(fixture.events.tokens.map(\.errorCode) == ["use_dpop_nonce"])
  }

  @Test func `C12 a server that always challenges with another nonce is asked twice, and later again`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, number in .success(.nonceChallenge("n\(number)")) })
    guard case .unavailable = await fixture.failure() else {
      Issue.record("not unavailable")
      return
    }
    #expect(fixture.server.tokenRequests.count == 2)
    _ = await fixture.failure()
    #expect(fixture.server.tokenRequests.count == 2)
  }

  @Test func `C6 the resource server's nonces stay away from the token endpoint`() async throws {
    let fixture = try OAuthClientFixture(server: ScriptedServer { _, number in .success(.token("t\(number)")) })
    let cell = fixture.source.nonceCell(origin: try Origin(parsing: "https://id.example.com"))
    cell.seed(try #require(NonceValue("of-the-resource-server")))
    _ = try await fixture.source.token()
    #expect(try fixture.server.tokenRequests[0].proof()?.claims["nonce"] == nil)
  }

  @Test func `a nonce that came with an error is used next time`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, number in
        number == 1 ? .success(HTTPResponse(503, "", [("DPoP-Nonce", "n")])) : .success(.token("t"))
      })
    _ = await fixture.failure()
    _ = try await fixture.renewed()
    #expect(try fixture.server.tokenRequests[1].proof()?.claims["nonce"]?.stringValue == "n")
  }
}
