import HTTPWire
import OAuth
import Locking
import Testing

@testable import Credentials

struct IssuerTroubleTests {
  @Test(
    arguments: [
      (.failure(.unreachable("connection refused")), "unreachable", true), (.failure(.timeout), "timeout", true),
      (.failure(.tls("the certificate has expired")), "tls", true), (.failure(.closed), "closed", true),
      (.failure(.tooLarge), "answer_too_large", true), (.failure(.protocolViolation("x")), "protocol_violation", true),
      (.success(HTTPResponse(503, "<html>")), "http_503", true), (.success(HTTPResponse(429, "")), "http_429", true),
      (.success(HTTPResponse(200, "<html>")), "malformed_answer", true),
      (.success(HTTPResponse(400, #"{"error":"temporarily_unavailable"}"#)), "temporarily_unavailable", true),
      (.success(HTTPResponse(401, #"{"error":"invalid_client"}"#)), "invalid_client", false),
      (.success(HTTPResponse(400, #"{"error":"invalid_target"}"#)), "invalid_target", false),
      (.success(HTTPResponse(400, #"{"error":"invalid_scope"}"#)), "invalid_scope", false),
      (.success(HTTPResponse(400, #"{"error":"unsupported_grant_type"}"#)), "unsupported_grant_type", false),
      (.success(HTTPResponse(400, #"{"error":"invalid_dpop_proof"}"#)), "invalid_dpop_proof", false),
      (.success(HTTPResponse(403, "")), "http_403", false), (.success(HTTPResponse(302, "")), "http_302", false),
      (.success(.token("a b")), "token_not_sendable", false),
    ] as [(ScriptedServer.Answer, String, Bool)])
  func `what may pass by itself is unavailable, a set-up mistake is refused`(
    answer: ScriptedServer.Answer, code: String, isUnavailable: Bool
  ) async throws {
    let fixture = try OAuthClientFixture(server: ScriptedServer { _, _ in answer })
    let failure = try #require(await fixture.failure())
    switch failure {
    case .unavailable(_, let seconds): #expect(isUnavailable && seconds == 1)
    default: #expect(!isUnavailable)
    }
    #expect(fixture.source.status().lastFailure?.code == code)
    #expect(fixture.source.status().state == (isUnavailable ? .unavailable : .refused))
    #expect(fixture.events.tokens.map(\.errorCode) == [code])
    #expect(fixture.server.tokenRequests.count == 1)
  }

  @Test func `Retry-After is passed on`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, _ in .success(HTTPResponse(429, "", [("Retry-After", "77")])) })
    guard case .unavailable(_, retryAfterSeconds: 77) = await fixture.failure() else {
      Issue.record("another failure")
      return
    }
  }

  @Test(arguments: [
    (HTTPResponse(404, ""), "metadata_not_found", false, 2), (HTTPResponse(200, "{}"), "metadata_unusable", false, 2),
    (HTTPResponse(500, ""), "http_500", true, 2),
    (
      HTTPResponse(200, #"{"issuer":"https://id.example.com/","token_endpoint":"https://x/t"}"#), "metadata_unusable",
      false, 2
    ),
  ])
  func `metadata that can't be had or used are told apart`(
    answer: HTTPResponse, code: String, isUnavailable: Bool, requests: Int
  ) async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer(metadata: { _ in .success(answer) }) { _, _ in .success(.token("t")) })
    let failure = try #require(await fixture.failure())
    if case .unavailable = failure { #expect(isUnavailable) } else { #expect(!isUnavailable) }
    #expect(fixture.source.status().lastFailure?.code == code)
    #expect(fixture.server.all.count == requests)
    #expect(fixture.server.tokenRequests.isEmpty)
  }

  @Test func `a wrong issuer is told how the server calls itself`() async throws {
    let document = #"{"issuer":"https://id.example.com/","token_endpoint":"https://id.example.com/t"}"#
    let fixture = try OAuthClientFixture(
      server: ScriptedServer(metadata: { _ in .success(HTTPResponse(200, document)) }) { _, _ in .success(.token("t")) }
    )
    #expect(await fixture.failure()?.detail.contains("\"https://id.example.com/\"") == true)
  }

  @Test func `metadata serve an hour, and longer while the issuer is down`() async throws {
    let isDown = Protected(false)
    let fixture = try OAuthClientFixture(
      server: ScriptedServer(metadata: { _ in
        isDown.withLock { $0 } ? .failure(.timeout) : .success(HTTPResponse(200, ScriptedServer.document))
      }) { _, number in .success(.token("t\(number)", expiresIn: "600")) })
    for _ in 0..<6 {
      fixture.time.advance(by: .seconds(600))
      _ = try await fixture.source.token()
    }
    #expect(fixture.server.all.count { $0.method == "GET" } == 1)
    isDown.withLock { $0 = true }
    fixture.time.advance(by: .seconds(600))
    _ = try await fixture.source.token()
    #expect(fixture.server.all.count { $0.method == "GET" } == 2)
  }

  @Test func `a token endpoint that is gone is looked up again`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, number in number == 1 ? .success(HTTPResponse(404, "")) : .success(.token("t")) })
    _ = await fixture.failure()
    _ = try await fixture.renewed()
    #expect(fixture.server.all.map(\.method) == ["GET", "POST", "GET", "POST"])
  }

  @Test func `A1.2 a server without ES256 is a refusal before any token request`() async throws {
    let document =
      #"{"issuer":"https://id.example.com","token_endpoint":"https://id.example.com/t","#
      + #""dpop_signing_alg_values_supported":["RS256"]}"#
    let server = ScriptedServer(metadata: { _ in .success(HTTPResponse(200, document)) }) { _, _ in
      .success(.token("t", type: "Bearer"))
    }
    let fixture = try OAuthClientFixture(server: server)
    #expect(await fixture.failure()?.detail.contains("ES256") == true)
    #expect(fixture.server.tokenRequests.isEmpty)
    _ = try await OAuthClientFixture(server: server, binding: .bearer).source.token()
  }

  @Test func `endpoints by hand need no discovery`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, _ in .success(.token("t")) }, tokenEndpoint: "https://id.example.com/by-hand")
    _ = try await fixture.source.token()
    #expect(fixture.server.all.map(\.url.path) == ["/by-hand"])
  }

  @Test func `C57 the first proof is dated by the clock that discovery showed`() async throws {
    // Our clock says 2027-01-15T08:00:00Z and is 90 s fast.
    let date = ("Date", "Fri, 15 Jan 2027 07:58:30 GMT")
    let fixture = try OAuthClientFixture(
      server: ScriptedServer(metadata: { _ in .success(HTTPResponse(200, ScriptedServer.document, [date])) }) { _, _ in
        .success(.token("t", [date]))
      })
    let token = try await fixture.source.token()
    #expect(try fixture.server.tokenRequests[0].proof()?.claims["iat"]?.int64Value == 1_800_000_000 - 90)
    #expect(fixture.skews.skew(of: try Origin(parsing: ScriptedServer.issuer)).seconds == -90)
    // Skew dates proofs; a token's life is ours to measure.
    #expect(token.expiresAtUnixSeconds == 1_800_003_600)
  }

  @Test func `a proof refused for a clock that is only now known is tried again soon`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, number in
        number == 1
          ? .success(HTTPResponse(400, #"{"error":"invalid_dpop_proof"}"#, [("Date", "Fri, 15 Jan 2027 07:58:30 GMT")]))
          : .success(.token("t"))
      }, tokenEndpoint: "https://id.example.com/token")
    guard case .unavailable = await fixture.failure() else {
      Issue.record("another failure")
      return
    }
    #expect(fixture.server.tokenRequests.count == 1)
    fixture.time.advance(by: .milliseconds(500))
    _ = try await fixture.source.token()
    #expect(try fixture.server.tokenRequests[1].proof()?.claims["iat"]?.int64Value == 1_800_000_000 - 90)
  }

  @Test func `a cached answer teaches nothing about the clock`() async throws {
    let fields = [("Date", "Fri, 15 Jan 2027 07:00:00 GMT"), ("Age", "3600")]
    let fixture = try OAuthClientFixture(
      server: ScriptedServer(metadata: { _ in .success(HTTPResponse(200, ScriptedServer.document, fields)) }) { _, _ in
        .success(.token("t"))
      })
    _ = try await fixture.source.token()
    #expect(fixture.skews.skew(of: try Origin(parsing: ScriptedServer.issuer)).seconds == 0)
  }
}
