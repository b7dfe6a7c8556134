import Cryptography
import EventLoop
import HTTPWire
import OAuth
import Testing

@testable import Credentials

struct RefreshTests {
  @Test func `a refresh is noted, sent, stored and given out, in this order`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    let id = try fixture.grant()
    let token = try await fixture.source().token()
    #expect(token.text == "access-token-1")
    #expect(fixture.steps.all == [.leased, .intended, .sending, .answered, .storing, .stored, .released])
    let stored = try #require(try fixture.store.grant(id))
    #expect(stored.secrets.refreshToken == Secret(utf8: "refresh-token-1"))
    #expect(stored.secrets.previousRefreshToken == Secret(utf8: "refresh-token-0"))
    #expect(stored.record.rotation == 1 && stored.record.lastRefreshAtUnixSeconds == 1_800_000_000)
    #expect(try fixture.store.intents().isEmpty)
    #expect(try fixture.store.tokens(of: id).map(\.accessToken) == [Secret(utf8: "access-token-1")])
    let request = try #require(fixture.server.tokenRequests.first)
    #expect(request.formValue("refresh_token") == "refresh-token-0" && request.formValue("client_id") == "app")
  }

  @Test func `C63 50 parallel requests at expiry are one token request`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try fixture.grant()
    let source = fixture.source()
    _ = try await source.token()
    fixture.time.advance(by: .seconds(3600))
    let texts = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<50 { group.addTask { (try? await source.token())?.text } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(texts.count == 50 && Set(texts) == ["access-token-2"])
    #expect(fixture.server.tokenRequests.count == 2)
  }

  @Test func `C65 a restart finds the refresh token that came last, and the access token`() async throws {
    let first = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try first.grant()
    _ = try await first.source().token()
    first.time.advance(by: .seconds(600))
    let second = try AccountFixture(
      store: first.store, time: first.time, server: ScriptedServer { _, number in .success(.rotated(number + 1)) })
    #expect(try await second.source().token().text == "access-token-1")
    #expect(second.server.tokenRequests.isEmpty)
    second.time.advance(by: .seconds(3000))
    #expect(try await second.source().token().text == "access-token-2")
    #expect(second.server.tokenRequests.map { $0.formValue("refresh_token") } == ["refresh-token-1"])
  }

  @Test func `C61 a restart does not revive a token that expired meanwhile`() async throws {
    let first = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try first.grant()
    _ = try await first.source().token()
    first.time.advance(by: .seconds(3601))
    let second = try AccountFixture(
      store: first.store, time: first.time, server: ScriptedServer { _, number in .success(.rotated(number + 1)) })
    #expect(try await second.source().token().text == "access-token-2")
  }

  @Test func `a token of another boot is not sent after the wall clock was set back`() async throws {
    let store = MemoryCredentialStore()
    let fixture = try AccountFixture(store: store, server: ScriptedServer { _, number in .success(.rotated(number)) })
    let id = try fixture.grant()
    let future = StoredToken(
      target: TokenTargetKey().text, accessToken: Secret(utf8: "access-token-0"), scheme: "Bearer",
      receivedAtWallNanoseconds: fixture.time.wallNanoseconds + 86_400_000_000_000,
      receivedAtBootNanoseconds: 5, bootID: "another boot", expiresInSeconds: 3600)
    _ = try store.update(try #require(try store.grant(id)), tokens: [future], endingIntent: false)
    #expect(try await fixture.source().token().text == "access-token-1")
  }

  @Test func `C67 a failed refresh takes nothing away`() async throws {
    let answers: [ScriptedServer.Answer] = [
      .success(HTTPResponse(500, "oops")), .failure(.timeout), .failure(.closed), .success(HTTPResponse(200, "<html>")),
      .success(HTTPResponse(200, "{}")), .success(.refused("invalid_client", status: 401)),
      .success(HTTPResponse(429, "slow down")), .success(.refused("temporarily_unavailable", status: 503)),
      .failure(.unreachable("no route")),
    ]
    for answer in answers {
      let fixture = try AccountFixture(
        server: ScriptedServer { _, number in number == 1 ? answer : .success(.rotated(number)) })
      let id = try fixture.grant { $0.secrets.idToken = Secret(utf8: "the id token") }
      #expect(await fixture.failure(fixture.source()) != nil)
      let kept = try #require(try fixture.store.grant(id))
      #expect(kept.secrets.refreshToken == Secret(utf8: "refresh-token-0") && kept.record.condition == .usable)
      #expect(kept.secrets.idToken == Secret(utf8: "the id token"))
      fixture.time.advance(by: .seconds(300))
      #expect(try await fixture.source().token().text == "access-token-2")
    }
  }

  @Test func `C68 an answer that omits the refresh token and the ID token leaves those there are`() async throws {
    let fixture = try AccountFixture(
      server: ScriptedServer { _, number in .success(.refreshed("access-token-\(number)")) })
    let id = try fixture.grant { $0.secrets.idToken = Secret(utf8: "the id token") }
    for number in 1...3 {
      #expect(try await fixture.source().token().text == "access-token-\(number)")
      fixture.time.advance(by: .seconds(3600))
    }
    let kept = try #require(try fixture.store.grant(id))
    #expect(kept.secrets.refreshToken == Secret(utf8: "refresh-token-0") && kept.record.rotation == 0)
    #expect(kept.secrets.idToken == Secret(utf8: "the id token"))
    #expect(Set(fixture.server.tokenRequests.map { $0.formValue("refresh_token") }) == ["refresh-token-0"])
  }

  @Test func `C71 a refresh that is refused is tried once and then left in peace`() async throws {
    let fixture = try AccountFixture(
      server: ScriptedServer { _, _ in .success(.refused("unauthorized_client")) })
    try fixture.grant()
    for _ in 0..<20 {
      guard case .refused = await fixture.failure(fixture.source()) else { throw Unexpected() }
    }
    #expect(fixture.server.tokenRequests.count == 1)
  }

  @Test func `a refresh token the server refuses means a login, and is never tried again`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in .success(.refused("invalid_grant")) })
    let id = try fixture.grant()
    for _ in 0..<5 {
      guard case .loginRequired = await fixture.failure(fixture.source()) else { throw Unexpected() }
      fixture.time.advance(by: .seconds(600))
    }
    #expect(fixture.server.tokenRequests.count == 1)
    #expect(try fixture.record(id)?.condition == .refused)
    #expect(try fixture.store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-0"))
    #expect(fixture.source().status().state == .loginRequired)
  }

  @Test func `pains 2: a refusal is judged by the grant that is there now`() async throws {
    let store = MemoryCredentialStore()
    let id = GrantID.random()
    let fixture = try AccountFixture(
      store: store,
      server: ScriptedServer { _, number in
        guard number == 1 else { return .success(.rotated(number)) }
        // Somebody who does not know of leases was quicker.
        store.change(id) {
          $0.secrets.refreshToken = Secret(utf8: "refresh-token-of-another")
          $0.record.rotation += 1
        }
        return .success(.refused("invalid_grant"))
      })
    try fixture.grant { $0 = StoredGrant(record: $0.record.with(id), secrets: $0.secrets) }
    #expect(await fixture.failure(fixture.source()) != nil)
    #expect(try fixture.record(id)?.condition == .usable)
    fixture.time.advance(by: .seconds(1))
    #expect(try await fixture.source().token().text == "access-token-2")
    #expect(fixture.server.tokenRequests.last?.formValue("refresh_token") == "refresh-token-of-another")
  }

  @Test func `an answer lost on its way is asked for again with the same token`() async throws {
    let fixture = try AccountFixture(
      server: ScriptedServer { _, number in number < 3 ? .failure(.timeout) : .success(.rotated(number)) })
    let id = try fixture.grant()
    #expect(await fixture.failure(fixture.source()) != nil)
    #expect(try fixture.store.intents().map(\.grant) == [id])
    fixture.time.advance(by: .seconds(1))
    #expect(await fixture.failure(fixture.source()) != nil)
    fixture.time.advance(by: .seconds(2))
    #expect(try await fixture.source().token().text == "access-token-3")
    #expect(try fixture.store.intents().isEmpty)
  }

  @Test func `a lost answer and a refusal after it are an interrupted rotation`() async throws {
    let fixture = try AccountFixture(
      server: ScriptedServer { _, number in
        number == 1 ? .failure(.closed) : .success(.refused("invalid_grant"))
      })
    let id = try fixture.grant()
    _ = await fixture.failure(fixture.source())
    fixture.time.advance(by: .seconds(1))
    guard case .loginRequired(let detail) = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(detail.contains("interrupted"))
    #expect(try fixture.record(id)?.condition == .rotationInterrupted)
    #expect(fixture.source().status().state == .rotationInterrupted)
    #expect(try fixture.store.intents().isEmpty)
  }

  @Test func `a server that can't be reached was not sent anything, and a refusal later is no interruption`()
    async throws
  {
    let fixture = try AccountFixture(
      server: ScriptedServer { _, number in
        number == 1 ? .failure(.unreachable("refused")) : .success(.refused("invalid_grant"))
      })
    let id = try fixture.grant()
    _ = await fixture.failure(fixture.source())
    fixture.time.advance(by: .seconds(1))
    _ = await fixture.failure(fixture.source())
    #expect(try fixture.record(id)?.condition == .refused)
  }

  @Test func `a refresh that was interrupted is taken up at the start`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    let id = try fixture.grant()
    try fixture.store.begin(RefreshIntent(grant: id, rotation: 0, startedAtUnixSeconds: 1_799_999_999))
    fixture.book.start()
    while try !fixture.store.intents().isEmpty { await Task.yield() }
    await fixture.book.stop()
    #expect(fixture.server.tokenRequests.map { $0.formValue("refresh_token") } == ["refresh-token-0"])
    #expect(try fixture.store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-1"))
  }

  @Test func `what the disk had no room for is stored before anything else, and used only then`() async throws {
    let store = MemoryCredentialStore()
    let fixture = try AccountFixture(
      store: store,
      server: ScriptedServer { _, number in
        store.failWrites(with: .diskFull(path: "/state"))
        return .success(.rotated(number))
      })
    let id = try fixture.grant()
    guard case .unavailable(let detail, _) = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(detail.contains("no room"))
    #expect(try store.tokens(of: id).isEmpty)
    fixture.time.advance(by: .seconds(1))
    #expect(await fixture.failure(fixture.source()) != nil)
    store.failWrites(with: nil)
    fixture.time.advance(by: .seconds(10))
    #expect(try await fixture.source().token().text == "access-token-1")
    #expect(fixture.server.tokenRequests.count == 1)
    #expect(try store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-1"))
  }

  @Test func `with a full disk nothing is sent, so nothing can be lost`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try fixture.grant()
    fixture.store.failWrites(with: .diskFull(path: "/state"))
    #expect(await fixture.failure(fixture.source()) != nil)
    #expect(fixture.server.tokenRequests.isEmpty)
  }

  @Test func `a logout during a refresh wins, and the server is told to forget what came`() async throws {
    let store = MemoryCredentialStore()
    let id = GrantID.random()
    let document =
      #"{"issuer":"https://id.example.com","token_endpoint":"https://id.example.com/token","revocation_endpoint":"https://id.example.com/revoke"}"#
    let fixture = try AccountFixture(
      store: store,
      server: ScriptedServer(metadata: { _ in .success(HTTPResponse(200, document)) }) { request, number in
        if request.url.path == "/token" { _ = try? store.remove(id) }
        return .success(request.url.path == "/token" ? .rotated(number) : HTTPResponse(200, ""))
      })
    try fixture.grant { $0 = StoredGrant(record: $0.record.with(id), secrets: $0.secrets) }
    guard case .loginRequired = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(try store.records().isEmpty)
    #expect(fixture.server.tokenRequests.map { $0.url.path } == ["/token", "/revoke"])
    #expect(fixture.server.tokenRequests.last?.formValue("token") == "refresh-token-1")
  }

  @Test func `a tag that is set during a refresh is there afterwards, and so is the rotation`() async throws {
    let store = MemoryCredentialStore()
    let id = GrantID.random()
    let fixture = try AccountFixture(
      store: store,
      server: ScriptedServer { _, number in
        store.change(id) { $0.record.tags = ["work"] }
        return .success(.rotated(number))
      })
    try fixture.grant { $0 = StoredGrant(record: $0.record.with(id), secrets: $0.secrets) }
    #expect(try await fixture.source().token().text == "access-token-1")
    #expect(try fixture.record(id)?.tags == ["work"])
    #expect(try store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-1"))
  }

  @Test func `another process that refreshed meanwhile saves us the refresh`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    let id = try fixture.grant()
    let other = try AccountFixture(
      store: fixture.store, time: fixture.time, server: ScriptedServer { _, _ in .failure(.closed) })
    _ = try await fixture.source().token()
    #expect(try await other.source().token().text == "access-token-1")
    #expect(other.server.tokenRequests.isEmpty)
    #expect(try fixture.record(id)?.rotation == 1)
  }
}

struct Unexpected: Error {}

extension GrantRecord {
  /// The same with an identity the test knows beforehand.
  func with(_ id: GrantID) -> GrantRecord {
    GrantRecord(
      id: id, profile: profile, account: account, issuer: issuer, clientID: clientID, origins: origins,
      createdAtUnixSeconds: createdAtUnixSeconds)
  }
}
