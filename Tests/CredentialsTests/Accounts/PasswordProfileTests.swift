import Cryptography
import EventLoop
import HTTPWire
import OAuth
import Testing

@testable import Credentials

/// Profiles that log in by themselves. RFC 6749 §4.3
struct PasswordProfileTests {
  private static let origin = LoginProfile.Origin.password(
    username: "ann", password: .literal(Secret(utf8: "the password")))

  @Test func `the password makes the grant, and refreshes go on from there`() async throws {
    let fixture = try AccountFixture(
      origin: Self.origin, server: ScriptedServer { _, number in .success(.rotated(number)) })
    #expect(try await fixture.source().token().text == "access-token-1")
    fixture.time.advance(by: .seconds(3600))
    #expect(try await fixture.source().token().text == "access-token-2")
    let requests = fixture.server.tokenRequests
    #expect(requests.map { $0.formValue("grant_type") } == ["password", "refresh_token"])
    #expect(requests[0].formValue("username") == "ann" && requests[0].formValue("password") == "the password")
    #expect(requests[1].formValue("refresh_token") == "refresh-token-1")
    #expect(try fixture.store.records().count == 1)
    #expect(fixture.held.all.keys.contains("the password"))
  }

  @Test func `a refresh token that is refused is replaced by the password, and the grant stays the same`() async throws
  {
    let fixture = try AccountFixture(
      origin: Self.origin,
      server: ScriptedServer { request, number in
        request.formValue("grant_type") == "refresh_token"
          ? .success(.refused("invalid_grant")) : .success(.rotated(number))
      })
    _ = try await fixture.source().token()
    let id = try fixture.store.records()[0].id
    fixture.time.advance(by: .seconds(3600))
    #expect(try await fixture.source().token().text == "access-token-3")
    let record = try #require(try fixture.record(id))
    #expect(record.condition == .usable)
    #expect(try fixture.store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-3"))
  }

  @Test func `without a refresh token two targets are two logins, and no more`() async throws {
    let fixture = try AccountFixture(
      origin: Self.origin, server: ScriptedServer { _, number in .success(.refreshed("access-token-\(number)")) })
    for _ in 0..<5 {
      for audience in ["one", "two"] {
        _ = try await fixture.source(nil, TokenTargetKey(audience: audience)).token()
        await fixture.book.look()
      }
    }
    #expect(fixture.server.tokenRequests.count == 2)
    #expect(try fixture.store.records().count == 1)
  }

  @Test func `a wrong password is tried once and then left in peace`() async throws {
    let fixture = try AccountFixture(
      origin: Self.origin, server: ScriptedServer { _, _ in .success(.refused("invalid_grant")) })
    for _ in 0..<10 { _ = await fixture.failure(fixture.source()) }
    #expect(fixture.server.tokenRequests.count == 1)
    #expect(try fixture.store.records().isEmpty)
  }

  @Test func `a bound grant keeps its key through refreshes and a restart`() async throws {
    let binding = ClientRegistration.Binding.dpop(allowBearer: false)
    let answer: @Sendable (HTTPRequest, Int) -> ScriptedServer.Answer = { _, number in
      .success(.refreshed("access-token-\(number)", refreshToken: "refresh-token-\(number)", type: "DPoP"))
    }
    let first = try AccountFixture(binding: binding, origin: Self.origin, server: ScriptedServer(token: answer))
    let thumbprint = try await first.source().token().proofKey?.thumbprint
    first.time.advance(by: .seconds(3600))
    let second = try AccountFixture(
      store: first.store, time: first.time, binding: binding, origin: Self.origin, server: ScriptedServer(token: answer)
    )
    #expect(try await second.source().token().proofKey?.thumbprint == thumbprint)
    #expect(try second.server.tokenRequests[0].proof()?.jkt == thumbprint)
  }

  @Test func `a profile's or account's name may have any character a name may have`() async throws {
    let fixture = try AccountFixture(
      origin: Self.origin, server: ScriptedServer { _, number in .success(.rotated(number)) })
    let source = fixture.source("me@example.org+x.y")
    #expect(try await source.token().text == "access-token-1")
  }
}
