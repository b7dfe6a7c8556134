import Cryptography
import EventLoop
import HTTPWire
import OAuth
import Testing

@testable import Credentials

/// One login that feeds many audiences.
struct TokenTargetTests {
  private static func jwt(audience: String) -> String {
    "e30.\(Base64URL.encode(Array(#"{"aud":"\#(audience)"}"#.utf8))).c2ln"
  }

  @Test func `providers 9 no. 13: the order of scopes and resources makes no other target`() {
    let one = TokenTargetKey(audience: "a", resources: ["x", "y"], scope: ["read", "write"])
    let other = TokenTargetKey(audience: "a", resources: ["y", "x"], scope: ["write", "read"])
    #expect(one == other && one.text == other.text)
    let different = [
      TokenTargetKey(), TokenTargetKey(audience: "a"), TokenTargetKey(resources: ["a"]), TokenTargetKey(scope: ["a"]),
      TokenTargetKey(parameters: [("audience", "a")]), TokenTargetKey(audience: "a&scope=b"),
      TokenTargetKey(audience: "a", scope: ["b"]), TokenTargetKey(scope: ["A"]),
    ]
    #expect(Set(different).count == different.count)
  }

  @Test func `each target has a token of its own, and each refresh goes on from the one before`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    let id = try fixture.grant()
    let (first, second) = (TokenTargetKey(audience: "one"), TokenTargetKey(audience: "two", scope: ["read"]))
    async let a = fixture.source(nil, first).token()
    async let b = fixture.source(nil, second).token()
    let texts = try await [a.text, b.text]
    #expect(Set(texts) == ["access-token-1", "access-token-2"])
    let requests = fixture.server.tokenRequests
    #expect(requests.map { $0.formValue("refresh_token") } == ["refresh-token-0", "refresh-token-1"])
    #expect(Set(requests.map { $0.formValue("audience") }) == ["one", "two"])
    #expect(try fixture.store.tokens(of: id).count == 2)
    #expect(try fixture.record(id)?.rotation == 2)
  }

  @Test func `a token for another audience is not sent, and the refresh token that came with it is kept`() async throws
  {
    let fixture = try AccountFixture(
      server: ScriptedServer { _, number in
        .success(.refreshed(Self.jwt(audience: "default"), refreshToken: "refresh-token-\(number)"))
      })
    let id = try fixture.grant()
    guard case .refused(let detail) = await fixture.failure(fixture.source(nil, TokenTargetKey(audience: "orders")))
    else { throw Unexpected() }
    #expect(detail.contains("audience"))
    let kept = try #require(try fixture.store.grant(id))
    #expect(kept.secrets.refreshToken == Secret(utf8: "refresh-token-1") && kept.record.rotation == 1)
    #expect(try fixture.store.tokens(of: id).isEmpty && fixture.store.intents().isEmpty)
  }

  @Test func `a rotation is kept although the token that came with it is of the wrong type`() async throws {
    let fixture = try AccountFixture(
      binding: .dpop(allowBearer: false), server: ScriptedServer { _, number in .success(.rotated(number)) })
    let id = try fixture.grant(key: .generate())
    guard case .refused = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(try fixture.store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-1"))
  }

  @Test func `with token exchange the login's own token is exchanged, and one refresh serves all targets`()
    async throws
  {
    let fixture = try AccountFixture(
      targets: .tokenExchange,
      server: ScriptedServer { request, number in
        request.formValue("grant_type") == "refresh_token"
          ? .success(.rotated(number)) : .success(.refreshed("exchanged-\(request.formValue("audience") ?? "")"))
      })
    try fixture.grant()
    for audience in ["one", "two"] {
      let token = try await fixture.source(nil, TokenTargetKey(audience: audience)).token()
      #expect(token.text == "exchanged-\(audience)")
    }
    let requests = fixture.server.tokenRequests
    #expect(requests.count { $0.formValue("grant_type") == "refresh_token" } == 1)
    #expect(requests.filter { $0.formValue("subject_token") == "access-token-1" }.count == 2)
  }

  @Test func `a scope that was granted is remembered; a refresh for less says nothing of the whole`() async throws {
    let fixture = try AccountFixture(
      server: ScriptedServer { request, number in
        .success(.refreshed("access-token-\(number)", scope: request.formValue("scope") ?? "openid read write"))
      })
    let id = try fixture.grant()
    _ = try await fixture.source().token()
    #expect(try fixture.record(id)?.scope == ["openid", "read", "write"])
    _ = try await fixture.source(nil, TokenTargetKey(scope: ["read"])).token()
    #expect(try fixture.record(id)?.scope == ["openid", "read", "write"])
  }
}
