import Cryptography
import EventLoop
import HTTPWire
import OAuth
import Testing

@testable import Credentials

/// What must be true of a grant before anything is sent.
struct GrantStateTests {
  private static let dpop = ClientRegistration.Binding.dpop(allowBearer: false)

  @Test func `a profile without an account needs a login`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in .failure(.closed) })
    guard case .loginRequired(let detail) = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(detail == "there is no account acme")
    await fixture.book.look()
    let status = try #require(fixture.book.statuses().first)
    #expect(status.state == .loginRequired && !status.canServe && status.next.contains("credentials import acme"))
  }

  @Test func `a refresh is by the key of the grant, with the nonce that was stored with it`() async throws {
    let key = ProofKey.generate()
    let fixture = try AccountFixture(
      binding: Self.dpop,
      server: ScriptedServer { _, number in
        .success(.refreshed("access-token-\(number)", type: "DPoP", [("DPoP-Nonce", "nonce-\(number)")]))
      })
    let id = try fixture.grant(key: key) { $0.secrets.authorizationServerNonce = Secret(utf8: "nonce-0") }
    let token = try await fixture.source().token()
    #expect(token.proofKey?.thumbprint == key.thumbprint)
    let proof = try #require(try fixture.server.tokenRequests[0].proof())
    #expect(proof.jkt == key.thumbprint && proof.claims["nonce"]?.stringValue == "nonce-0")
    #expect(proof.claims["ath"] == nil)
    #expect(try fixture.store.grant(id)?.secrets.authorizationServerNonce == Secret(utf8: "nonce-1"))
  }

  @Test func `a nonce challenge of a refresh is answered once, with the same token and another proof`() async throws {
    let fixture = try AccountFixture(
      binding: Self.dpop,
      server: ScriptedServer { _, number in
        .success(number == 1 ? .nonceChallenge("nonce-1") : .refreshed("access-token-\(number)", type: "DPoP"))
      })
    try fixture.grant(key: .generate())
    #expect(try await fixture.source().token().text == "access-token-2")
    let requests = fixture.server.tokenRequests
    #expect(requests.map { $0.formValue("refresh_token") } == ["refresh-token-0", "refresh-token-0"])
    let proofs = try requests.map { try $0.proof()?.claims }
    #expect(proofs[1]?["nonce"]?.stringValue == "nonce-1")
    #expect(proofs[0]?["jti"]?.stringValue != proofs[1]?["jti"]?.stringValue)
  }

  @Test func `pains 13: a refusal behind a nonce challenge is asked again before it is believed`() async throws {
    let fixture = try AccountFixture(
      binding: Self.dpop,
      server: ScriptedServer { _, number in
        switch number {
        case 1: .success(.nonceChallenge("nonce-1"))
        case 2: .success(.refused("invalid_grant"))
        default: .success(.refreshed("access-token-\(number)", type: "DPoP"))
        }
      })
    let id = try fixture.grant(key: .generate())
    #expect(try await fixture.source().token().text == "access-token-3")
    #expect(try fixture.record(id)?.condition == .usable)
  }

  @Test func `a grant whose key is gone is never used with another one`() async throws {
    let fixture = try AccountFixture(binding: Self.dpop, server: ScriptedServer { _, _ in .failure(.closed) })
    let id = try fixture.grant(key: .generate()) { $0.secrets.proofKey = nil }
    guard case .loginRequired = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(fixture.source().status().state == .keyMissing)
    #expect(fixture.server.all.isEmpty)
    #expect(try fixture.store.grant(id)?.secrets.refreshToken != nil)
  }

  @Test func `a grant that is bound to another key than the stored one is a mismatch`() async throws {
    let fixture = try AccountFixture(binding: Self.dpop, server: ScriptedServer { _, _ in .failure(.closed) })
    let other = try ProofKey.generate().exportPrivate()
    try fixture.grant(key: .generate()) { $0.secrets.proofKey = other }
    _ = await fixture.failure(fixture.source())
    #expect(fixture.source().status().state == .keyMismatch)
    #expect(fixture.server.all.isEmpty)
  }

  @Test func `a bound grant is not used by a profile without dpop, nor an unbound one with it`() async throws {
    let bearer = try AccountFixture(server: ScriptedServer { _, _ in .failure(.closed) })
    try bearer.grant(key: .generate())
    guard case .refused(let detail) = await bearer.failure(bearer.source()) else { throw Unexpected() }
    #expect(detail.contains("dpop: true"))
    let bound = try AccountFixture(binding: Self.dpop, server: ScriptedServer { _, _ in .failure(.closed) })
    try bound.grant()
    _ = await bound.failure(bound.source())
    #expect(bound.source().status().state == .keyMissing)
    #expect(bearer.server.all.isEmpty && bound.server.all.isEmpty)
  }

  @Test func `nothing is renewed beyond the session, and no token outlives it`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try fixture.grant(sessionExpiresAtUnixSeconds: 1_800_000_630)
    let token = try await fixture.source().token()
    #expect(token.expiresAtUnixSeconds == 1_800_000_600)
    fixture.time.advance(by: .seconds(601))
    guard case .loginRequired(let detail) = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(detail.contains("session"))
    #expect(fixture.source().status().state == .sessionExpired)
    #expect(fixture.server.tokenRequests.count == 1)
  }

  @Test func `providers 9 no. 11: a renewed ID token without the ceiling, or with another, changes nothing`()
    async throws
  {
    let claims = #"{"iss":"i","sub":"s","aud":"app","exp":1900000000,"iat":1800000000,"session_expiry":1900000000}"#
    let idToken = "e30.\(Base64URL.encode(Array(claims.utf8))).c2ln"
    let fixture = try AccountFixture(
      server: ScriptedServer { _, number in
        .success(.refreshed("access-token-\(number)", idToken: number == 1 ? idToken : nil, expiresIn: 60))
      })
    let id = try fixture.grant(sessionExpiresAtUnixSeconds: 1_800_000_300)
    _ = try await fixture.source().token()
    fixture.time.advance(by: .seconds(60))
    _ = try await fixture.source().token()
    #expect(try fixture.record(id)?.sessionExpiresAtUnixSeconds == 1_800_000_300)
    #expect(try fixture.store.grant(id)?.secrets.idToken == Secret(utf8: idToken))
  }

  @Test func `a refresh token goes only to the origin it came from`() async throws {
    let document = #"{"issuer":"https://id.example.com","token_endpoint":"https://evil.example.net/token"}"#
    let fixture = try AccountFixture(
      server: ScriptedServer(metadata: { _ in .success(HTTPResponse(200, document)) }) { _, _ in .failure(.closed) })
    try fixture.grant()
    guard case .loginRequired(let detail) = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(detail.contains("https://evil.example.net"))
    #expect(fixture.server.tokenRequests.isEmpty)
  }

  @Test func `a grant of another client or issuer than the configuration names is not sent`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in .failure(.closed) })
    try fixture.grant { $0.record.clientID = "another" }
    guard case .loginRequired = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(fixture.server.all.isEmpty)
  }

  @Test func `the secrets of a grant are masked, the ones before as well`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try fixture.grant { $0.secrets.idToken = Secret(utf8: "the-id-token") }
    _ = try await fixture.source().token()
    let held = Set(fixture.held.all.keys)
    #expect(held.isSuperset(of: ["refresh-token-0", "refresh-token-1", "access-token-1", "the-id-token"]))
  }

  @Test func `a refresh token too short to be masked is not used`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in .failure(.closed) }, heldBytesMin: 8)
    try fixture.grant(refreshToken: "short")
    guard case .refused = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(fixture.server.all.isEmpty)
  }
}
