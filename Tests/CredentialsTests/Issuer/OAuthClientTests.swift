import Cryptography
import EventLoop
import HTTPWire
import OAuth
import Locking
import Testing

@testable import Credentials

struct OAuthClientTests {
  @Test func `a token comes by discovery, with a proof, and carries the key`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, _ in .success(.token("abc")) },
      target: TokenTargetKey(audience: "https://api.example.com/", scope: ["read"]))
    let token = try await fixture.source.token()
    #expect(
      fixture.server.all.map(\.url.absoluteString) == [
        "https://id.example.com/.well-known/openid-configuration", "https://id.example.com/token?x=1",
      ])
    #expect(token.fieldLine == Secret(utf8: "Authorization: DPoP abc\r\n") && token.queryParameter == nil)
    #expect(token.proofKey?.thumbprint == fixture.client.proofKeyThumbprint)
    #expect(String(decoding: token.ath, as: UTF8.self) == Base64URL.encode(SHA256.hash(Array("abc".utf8))))
    #expect(token.expiresAtUnixSeconds == 1_800_003_600)
    let request = try #require(fixture.server.tokenRequests.first)
    #expect(request.formValue("audience") == "https://api.example.com/")
    #expect(request.formValue("client_secret") == "sentinel-client-secret")
    #expect(try request.proof()?.jkt == fixture.client.proofKeyThumbprint)
  }

  struct UnexpectedPlacement: Error {}

  @Test func `RFC 9449 has this ath for its token`() async throws {
    let text = "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
    let fixture = try OAuthClientFixture(server: ScriptedServer { _, _ in .success(.token(text)) })
    let token = try await fixture.source.token()
    #expect(String(decoding: token.ath, as: UTF8.self) == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
  }

  @Test func `a bearer client sends no proof and gets no key`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, _ in .success(.token("abc", type: "bearer")) }, binding: .bearer)
    let token = try await fixture.source.token()
    #expect(token.fieldLine == Secret(utf8: "Authorization: Bearer abc\r\n") && token.queryParameter == nil)
    #expect(token.proofKey == nil && token.ath.isEmpty)
    #expect(fixture.server.tokenRequests[0].field("DPoP") == nil)
  }

  @Test func `C51 a bearer token where DPoP is wanted is refused, allow_bearer takes it`() async throws {
    let server = ScriptedServer { _, _ in .success(.token("abc", type: "Bearer")) }
    let strict = try OAuthClientFixture(server: server)
    guard case .refused(let detail) = await strict.failure() else { throw UnexpectedPlacement() }
    #expect(detail.contains("DPoP") && detail.contains("Bearer"))
    #expect(strict.events.tokens.map(\.errorCode) == ["token_type_mismatch"])
    let lenient = try OAuthClientFixture(server: server, binding: .dpop(allowBearer: true))
    #expect(try await lenient.source.token().proofKey == nil)
  }

  @Test func `C48 all tokens of a client are bound to one key and found by one discovery`() async throws {
    let fixture = try OAuthClientFixture(server: ScriptedServer { _, number in .success(.token("t\(number)")) })
    let other = fixture.client.machine(
      name: "other", grant: .clientCredentials, target: TokenTargetKey(audience: "b"))
    async let first = fixture.source.token()
    async let second = other.token()
    #expect(try await first.proofKey?.thumbprint == second.proofKey?.thumbprint)
    #expect(Set(try fixture.server.tokenRequests.map { try $0.proof()?.jkt }) == [fixture.client.proofKeyThumbprint])
    #expect(fixture.server.all.count == 3)
    let origin = try Origin(parsing: "https://api.example.com")
    #expect(fixture.source.nonceCell(origin: origin) === other.nonceCell(origin: origin))
  }

  @Test func `C63 200 parallel requests at expiry are one token request`() async throws {
    let fixture = try OAuthClientFixture(server: ScriptedServer { _, number in .success(.token("t\(number)")) })
    _ = try await fixture.source.token()
    fixture.time.advance(by: .seconds(3600))
    let texts = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<200 { group.addTask { try? await fixture.source.token().text } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(texts.count == 200 && texts.allSatisfy { $0 == "t2" })
    #expect(fixture.server.tokenRequests.count == 2)
  }

  @Test func `C24 each send has a jti of its own, after failures too`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, number in number < 4 ? .success(HTTPResponse(429, "")) : .success(.token("t")) })
    for _ in 0..<3 {
      _ = await fixture.failure()
      fixture.time.advance(by: .seconds(60))
    }
    _ = try await fixture.source.token()
    let jtis = try fixture.server.tokenRequests.map { try $0.proof()?.claims["jti"]?.stringValue }
    #expect(jtis.count == 4 && Set(jtis).count == 4)
  }

  @Test func `the client's secret and its tokens are known to the redactor before anything is sent`() async throws {
    let held = Protected<HeldSecrets?>(nil)
    let known = Protected<[String: Int]>([:])
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, _ in
        known.withLock { $0 = held.withLock { $0 }?.all ?? [:] }
        return .success(.token("abc"))
      })
    held.withLock { $0 = fixture.held }
    _ = try await fixture.source.token()
    #expect(known.withLock { $0 } == ["sentinel-client-secret": 1])
    _ = try await fixture.renewed()
    #expect(fixture.held.all == ["sentinel-client-secret": 1, "abc": 2])
  }

  @Test func `C85 a secret that the server repeats shows nowhere`() async throws {
    let answer = #"{"error":"invalid_client","error_description":"secret sentinel-client-secret does not match"}"#
    let fixture = try OAuthClientFixture(server: ScriptedServer { _, _ in .success(HTTPResponse(401, answer)) })
    let failure = try #require(await fixture.failure())
    #expect(failure.detail.contains("invalid_client") && failure.detail.contains("does not match"))
    #expect(!"\(failure) \(fixture.source.status()) \(fixture.events.all)".contains("sentinel"))
  }

  @Test func `each call is an event without its query`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, number in
        number == 1 ? .success(.nonceChallenge("n1")) : .success(.token("abc"))
      })
    _ = try await fixture.source.token()
    #expect(
      fixture.events.all == [
        OAuthEvent(
          credential: "machine", step: .discovery, method: "GET",
          url: "https://id.example.com/.well-known/openid-configuration", status: 200, durationNanoseconds: 0,
          attempts: 1, errorCode: nil),
        OAuthEvent(
          credential: "machine", step: .token, method: "POST", url: "https://id.example.com/token", status: 200,
          durationNanoseconds: 0, attempts: 2, errorCode: nil),
      ])
  }
}
