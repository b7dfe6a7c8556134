import Cryptography
import EventLoop
import HTTPWire
import OAuth
import Testing

@testable import Credentials

/// The operations of the admin API, against a store and a server of the test's.
struct AccountServiceTests {
  private let acme = AccountName(profile: "acme")

  private func failure<R>(_ body: () async throws(AccountFailure) -> R) async -> AccountFailure? {
    do throws(AccountFailure) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  // MARK: import

  @Test func `an imported grant is proved by a refresh and serves`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    let status = try await fixture.book.importGrant(
      ImportedGrant(refreshToken: Secret(utf8: "refresh-token-0"), tags: ["work"]), as: acme, replace: false,
      isOffline: false)
    #expect(status.name == acme && status.isDefault && status.tags == ["work"])
    #expect(try await fixture.source().token().text == "access-token-1")
    #expect(try fixture.store.records()[0].origins == ["https://id.example.com"])
  }

  @Test func `an imported grant the server refuses is not kept`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in .success(.refused("invalid_grant")) })
    let failure = await failure { () throws(AccountFailure) in
      try await fixture.book.importGrant(
        ImportedGrant(refreshToken: Secret(utf8: "refresh-token-0")), as: acme, replace: false, isOffline: false)
    }
    #expect(failure?.kind == .refused)
    #expect(try fixture.store.records().isEmpty)
  }

  @Test func `an imported grant that brings a token of no use is kept, for its refresh token is another one now`()
    async throws
  {
    let fixture = try AccountFixture(
      server: ScriptedServer { _, number in
        .success(.refreshed("a", refreshToken: "refresh-token-\(number)", type: "mac"))
      })
    let failure = await failure { () throws(AccountFailure) in
      try await fixture.book.importGrant(
        ImportedGrant(refreshToken: Secret(utf8: "refresh-token-0")), as: acme, replace: false, isOffline: false)
    }
    #expect(failure?.code == "token_type_mismatch")
    let id = try #require(try fixture.store.records().first?.id)
    #expect(try fixture.store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-1"))
  }

  @Test func `a name that is taken is replaced only when asked, and only by a grant that is good`() async throws {
    let fixture = try AccountFixture(
      server: ScriptedServer { request, number in
        request.formValue("refresh_token") == "bad-refresh-token"
          ? .success(.refused("invalid_grant")) : .success(.rotated(number))
      })
    let old = try fixture.grant()
    let bad = ImportedGrant(refreshToken: Secret(utf8: "bad-refresh-token"))
    let taken = await failure { () throws(AccountFailure) in
      try await fixture.book.importGrant(bad, as: acme, replace: false, isOffline: false)
    }
    #expect(taken?.code == "name_taken")
    let refused = await failure { () throws(AccountFailure) in
      try await fixture.book.importGrant(bad, as: acme, replace: true, isOffline: false)
    }
    #expect(refused?.kind == .refused)
    #expect(try fixture.store.records().map(\.id) == [old])
    let good = ImportedGrant(refreshToken: Secret(utf8: "good-refresh-token"))
    let status = try await fixture.book.importGrant(good, as: acme, replace: true, isOffline: false)
    #expect(status.isDefault && status.grant != old)
    let records = try fixture.store.records()
    #expect(records.map(\.account) == [""] && records[0].isDefault)
    #expect(fixture.server.tokenRequests.last?.formValue("refresh_token") == "good-refresh-token")
  }

  @Test func `a grant of another client or issuer, or with a key that is none, is refused before anything is sent`()
    async throws
  {
    let bearer = try AccountFixture(server: ScriptedServer { _, _ in .failure(.closed) })
    let bound = try AccountFixture(
      binding: .dpop(allowBearer: false), server: ScriptedServer { _, _ in .failure(.closed) })
    var client = ImportedGrant(refreshToken: Secret(utf8: "refresh-token-0"))
    client.clientID = "another"
    var issuer = ImportedGrant(refreshToken: Secret(utf8: "refresh-token-0"))
    issuer.issuer = "https://elsewhere.example.com"
    var key = ImportedGrant(refreshToken: Secret(utf8: "refresh-token-0"))
    key.proofKey = Secret(utf8: "no key")
    for (fixture, grant, code) in [
      (bearer, client, "another_client"), (bearer, issuer, "another_issuer"), (bearer, key, "dpop_not_configured"),
      (bound, key, "proof_key_malformed"),
    ] {
      let failure = await failure { () throws(AccountFailure) in
        try await fixture.book.importGrant(grant, as: acme, replace: false, isOffline: false)
      }
      #expect(failure?.code == code)
      #expect(try fixture.store.records().isEmpty && fixture.server.all.isEmpty)
    }
  }

  // MARK: names, defaults, tags

  @Test func `providers 9 no. 31: the first account is the default, and removing it promotes none`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try fixture.grant(account: "work")
    try fixture.grant(account: "home", refreshToken: "refresh-token-of-home")
    #expect(try await fixture.book.account(acme).name.account == "work")
    try await fixture.book.remove(acme)
    guard case .loginRequired(let detail) = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(detail.contains("none of them is its default"))
    _ = try await fixture.book.makeDefault(AccountName(profile: "acme", account: "home"))
    fixture.time.advance(by: .seconds(1))
    #expect(try await fixture.source().token().text == "access-token-1")
    #expect(fixture.server.tokenRequests[0].formValue("refresh_token") == "refresh-token-of-home")
  }

  @Test func `a token is not sent any more once its account is removed`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try fixture.grant()
    await fixture.book.look()
    _ = try await fixture.source().token()
    #expect(fixture.source().current() != nil)
    try await fixture.book.remove(acme)
    #expect(fixture.source().current() == nil)
  }

  @Test func `tags are set and taken away, and a bad one is refused`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in .failure(.closed) })
    try fixture.grant()
    #expect(try await fixture.book.tag(acme, adding: ["a", "b"], removing: []).tags == ["a", "b"])
    #expect(try await fixture.book.tag(acme, adding: ["c"], removing: ["a"]).tags == ["b", "c"])
    let failure = await failure { () throws(AccountFailure) in
      try await fixture.book.tag(acme, adding: ["no spaces"], removing: [])
    }
    #expect(failure?.code == "tag_invalid")
  }

  @Test func `a name that means nothing is told so`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in .failure(.closed) })
    let unknown = await failure { () throws(AccountFailure) in
      try await fixture.book.remove(AccountName(profile: "nobody"))
    }
    #expect(unknown?.code == "profile_unknown")
    let none = await failure { () throws(AccountFailure) in try await fixture.book.remove(acme) }
    #expect(none?.code == "account_unknown")
  }

  // MARK: export

  @Test func `a token leaves only a profile that allows it`() async throws {
    let strict = try AccountFixture(exports: false, server: ScriptedServer { _, _ in .failure(.closed) })
    try strict.grant()
    let failure = await failure { () throws(AccountFailure) in try await strict.book.token(acme, TokenAsk()) }
    #expect(failure?.kind == .forbidden && strict.server.all.isEmpty)
    let open = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try open.grant()
    let token = try await open.book.token(acme, TokenAsk())
    #expect(token.accessToken == Secret(utf8: "access-token-1") && token.scheme == "Bearer")
  }

  @Test func `a token that must live longer is refreshed, and one that never does is not asked for again`() async throws
  {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try fixture.grant()
    var ask = TokenAsk()
    ask.minimumLifetime = .seconds(3000)
    #expect(try await fixture.book.token(acme, ask).accessToken == Secret(utf8: "access-token-1"))
    fixture.time.advance(by: .seconds(1000))
    #expect(try await fixture.book.token(acme, ask).accessToken == Secret(utf8: "access-token-2"))
    ask.minimumLifetime = .seconds(7200)
    for _ in 0..<3 {
      let failure = await failure { () throws(AccountFailure) in try await fixture.book.token(acme, ask) }
      #expect(failure?.code == "large_min_ttl")
    }
    #expect(fixture.server.tokenRequests.count == 2)
  }

  @Test func `the fields of a request carry a proof for it`() async throws {
    let key = ProofKey.generate()
    let fixture = try AccountFixture(
      binding: .dpop(allowBearer: false),
      server: ScriptedServer { _, number in .success(.refreshed("access-token-\(number)", type: "DPoP")) })
    try fixture.grant(key: key)
    let url = try HTTPURL(parsing: "https://api.example.com/orders?page=1")
    let fields = try await fixture.book.fields(acme, FieldsAsk(method: "POST", url: url))
    #expect(fields.map(\.name) == ["Authorization", "DPoP"])
    #expect(fields[0].value == Secret(utf8: "DPoP access-token-1"))
    let proof = try JSONWebSignature(compact: fields[1].value.revealedString())
    try proof.verify(with: key.publicJWK, algorithms: [.es256])
    let claims = try JSONValue(parsing: proof.payload)
    #expect(claims["htm"]?.stringValue == "POST" && claims["htu"]?.stringValue == "https://api.example.com/orders")
    #expect(claims["ath"]?.stringValue == Base64URL.encode(SHA256.hash(Array("access-token-1".utf8))))
  }

  // MARK: lock

  @Test func `a locked store serves nothing, forgets everything and serves again when it is unlocked`() async throws {
    let fixture = try AccountFixture(
      usesPassphrase: true, server: ScriptedServer { _, number in .success(.rotated(number)) })
    fixture.store.seal(with: Secret(utf8: "correct horse"))
    try fixture.grant()
    await fixture.book.look()
    _ = try await fixture.source().token()
    try await fixture.book.lock()
    #expect(fixture.source().current() == nil)
    guard case .locked = await fixture.failure(fixture.source()) else { throw Unexpected() }
    #expect(fixture.source().status().state == .locked)
    #expect(fixture.held.all.isEmpty)
    let wrong = await failure { () throws(AccountFailure) in
      try await fixture.book.unlock(passphrase: Secret(utf8: "wrong"))
    }
    #expect(wrong?.code == "passphrase_wrong")
    try await fixture.book.unlock(passphrase: Secret(utf8: "correct horse"))
    #expect(try await fixture.source().token().text == "access-token-1")
  }

  @Test func `a session ends by the clock that goes on while the machine sleeps`() async throws {
    let fixture = try AccountFixture(
      unlock: .session(.seconds(60)), usesPassphrase: true,
      server: ScriptedServer { _, number in .success(.rotated(number)) })
    fixture.store.seal(with: Secret(utf8: "correct horse"))
    try fixture.grant()
    try await fixture.book.unlock(passphrase: Secret(utf8: "correct horse"))
    _ = try await fixture.source().token()
    fixture.time.advance(by: .seconds(61))
    await fixture.book.look()
    #expect(fixture.source().current() == nil && fixture.store.lockState == .locked)
  }

  @Test func `with the policy always the gateway gets nothing, and an unlocked store serves one operation`()
    async throws
  {
    let fixture = try AccountFixture(
      unlock: .always, usesPassphrase: true, server: ScriptedServer { _, number in .success(.rotated(number)) })
    fixture.store.seal(with: Secret(utf8: "correct horse"))
    try fixture.grant()
    try await fixture.book.unlock(passphrase: Secret(utf8: "correct horse"))
    guard case .locked = await fixture.failure(fixture.source()) else { throw Unexpected() }
    fixture.time.advance(by: .seconds(2))
    #expect(try await fixture.book.token(acme, TokenAsk()).accessToken == Secret(utf8: "access-token-1"))
    #expect(fixture.store.lockState == .locked)
    let second = await failure { () throws(AccountFailure) in try await fixture.book.token(acme, TokenAsk()) }
    #expect(second?.code == "locked")
  }

  @Test func `wrong passphrases are slowed down`() async throws {
    let fixture = try AccountFixture(usesPassphrase: true, server: ScriptedServer { _, _ in .failure(.closed) })
    fixture.store.seal(with: Secret(utf8: "correct horse"))
    var codes: [String?] = []
    for _ in 0..<6 {
      codes.append(
        await failure { () throws(AccountFailure) in
          try await fixture.book.unlock(passphrase: Secret(utf8: "wrong"))
        }?.code)
    }
    #expect(
      codes.prefix(4).allSatisfy { $0 == "passphrase_wrong" }
        && codes.suffix(2) == ["unlock_delayed", "unlock_delayed"])
    fixture.time.advance(by: .seconds(2))
    try await fixture.book.unlock(passphrase: Secret(utf8: "correct horse"))
  }

  @Test
  func `an answer that came while the store was being locked is stored when it is unlocked, and R1 is not sent again`()
    async throws
  {
    let store = MemoryCredentialStore()
    let fixture = try AccountFixture(
      store: store, usesPassphrase: true,
      server: ScriptedServer { _, number in
        if number == 1 { try? store.lock() }
        return .success(.rotated(number))
      })
    store.seal(with: Secret(utf8: "correct horse"))
    let id = try fixture.grant()
    guard case .locked = await fixture.failure(fixture.source()) else { throw Unexpected() }
    // Another name of the same grant, and another process: both have to wait for the answer to be stored.
    #expect(try store.lease(id) == nil)
    try await fixture.book.unlock(passphrase: Secret(utf8: "correct horse"))
    #expect(try await fixture.source("").token().text == "access-token-1")
    #expect(fixture.server.tokenRequests.count == 1)
    #expect(try store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-1"))
    #expect(try store.lease(id) != nil)
  }

  @Test func `a stop waits for the refresh under way and stores what it brings`() async throws {
    let gate = AsyncTurn()
    await gate.enter()
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) }, gate: gate)
    let id = try fixture.grant()
    let source = fixture.source()
    source.acquire { _ in }
    while fixture.steps.all.last != .sending { await Task.yield() }
    let book = fixture.book
    let stop = Task { await book.stop() }
    gate.leave()
    await stop.value
    #expect(try fixture.store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-1"))
    fixture.time.advance(by: .seconds(3600))
    guard case .unavailable = await fixture.failure(source) else { throw Unexpected() }
    #expect(fixture.server.tokenRequests.count == 1)
  }

  @Test func `who an account is comes from its ID token`() async throws {
    let claims =
      #"{"iss":"https://id.example.com","sub":"s-1","aud":"app","exp":1900000000,"iat":1800000000,"email":"a@example.com"}"#
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in .failure(.closed) })
    try fixture.grant { $0.secrets.idToken = Secret(utf8: "e30.\(Base64URL.encode(Array(claims.utf8))).c2ln") }
    let identity = try await fixture.book.identity(acme)
    #expect(identity.subject == "s-1" && identity.email == "a@example.com" && identity.name == nil)
    try fixture.grant(account: "other")
    let failure = await failure { () throws(AccountFailure) in
      try await fixture.book.identity(AccountName(profile: "acme", account: "other"))
    }
    #expect(failure?.code == "identity_unknown")
  }
}

/// What an import must not cost.
struct ImportTroubleTests {
  private let acme = AccountName(profile: "acme")

  private func failure(_ body: () async throws(AccountFailure) -> AccountStatus) async -> AccountFailure? {
    do throws(AccountFailure) {
      _ = try await body()
      return nil
    } catch {
      return error
    }
  }

  private func replacing(_ fixture: AccountFixture, _ token: String = "new-refresh-token") async -> AccountFailure? {
    await failure { () throws(AccountFailure) in
      try await fixture.book.importGrant(
        ImportedGrant(refreshToken: Secret(utf8: token)), as: acme, replace: true, isOffline: false)
    }
  }

  @Test(arguments: [ScriptedServer.Answer.failure(.unreachable("no route")), .success(HTTPResponse(429, ""))])
  func `a replacing grant that was surely not used is thrown away, and the old one stays`(
    answer: ScriptedServer.Answer
  ) async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in answer })
    let old = try fixture.grant()
    #expect(await replacing(fixture)?.kind == .unavailable)
    #expect(try fixture.store.records().map(\.id) == [old])
    #expect(try fixture.store.grant(old)?.secrets.refreshToken == Secret(utf8: "refresh-token-0"))
  }

  @Test(arguments: [
    ScriptedServer.Answer.failure(.timeout), .success(HTTPResponse(503, "")), .success(HTTPResponse(200, "<html>")),
  ])
  func `a replacing grant that may have been used is kept aside, and the old one stays`(
    answer: ScriptedServer.Answer
  ) async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in answer })
    let old = try fixture.grant()
    let failure = try #require(await replacing(fixture))
    let records = try fixture.store.records()
    #expect(records.count == 2 && records.contains { $0.id == old && $0.isDefault })
    let aside = try #require(records.first { $0.id != old })
    #expect(failure.detail.contains("acme/\(aside.account)") && AccountName(parsing: "acme/\(aside.account)") != nil)
  }

  @Test func `a refresh token that was rotated away is not sent once more`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, number in .success(.rotated(number)) })
    try fixture.grant()
    _ = try await fixture.source().token()
    #expect(await replacing(fixture, "refresh-token-0")?.code == "refresh_token_spent")
    #expect(await replacing(fixture, "refresh-token-1")?.code == "refresh_token_known")
    #expect(fixture.server.tokenRequests.count == 1)
  }

  @Test func `an import that can't be proved now says so, and is stored`() async throws {
    let fixture = try AccountFixture(server: ScriptedServer { _, _ in .failure(.timeout) })
    let failure = await failure { () throws(AccountFailure) in
      try await fixture.book.importGrant(
        ImportedGrant(refreshToken: Secret(utf8: "refresh-token-0")), as: acme, replace: false, isOffline: false)
    }
    #expect(failure?.kind == .unavailable && failure?.detail.contains("is stored") == true)
    #expect(try fixture.store.records().count == 1)
  }

  @Test func `an answer with an ID token that is none serves all the same`() async throws {
    let fixture = try AccountFixture(
      server: ScriptedServer { _, number in .success(.refreshed("access-token-\(number)", idToken: "none")) },
      heldBytesMin: 8)
    let id = try fixture.grant()
    #expect(try await fixture.source().token().text == "access-token-1")
    #expect(try fixture.store.grant(id)?.secrets.idToken == nil)
  }

  @Test func `a broken server's invalid_grant with status 503 condemns nothing`() async throws {
    let fixture = try AccountFixture(
      server: ScriptedServer { _, number in
        number == 1 ? .success(.refused("invalid_grant", status: 503)) : .success(.rotated(number))
      })
    let id = try fixture.grant()
    #expect(await fixture.failure(fixture.source()) != nil)
    #expect(try fixture.record(id)?.condition == .usable)
  }

  @Test func `a lock waits for the refresh under way, and nothing begins meanwhile`() async throws {
    let gate = AsyncTurn()
    await gate.enter()
    let fixture = try AccountFixture(
      usesPassphrase: true, server: ScriptedServer { _, number in .success(.rotated(number)) }, gate: gate)
    fixture.store.seal(with: Secret(utf8: "correct horse"))
    let id = try fixture.grant()
    try fixture.grant(account: "other", refreshToken: "refresh-token-of-other")
    fixture.source().acquire { _ in }
    while fixture.steps.all.last != .sending { await Task.yield() }
    let book = fixture.book
    let lock = Task { () -> AccountFailure? in
      do throws(AccountFailure) {
        try await book.lock()
        return nil
      } catch {
        return error
      }
    }
    while fixture.book.world.unlocking.mayOpen { await Task.yield() }
    guard case .locked = await fixture.failure(fixture.source("other")) else { throw Unexpected() }
    gate.leave()
    #expect(await lock.value == nil)
    #expect(fixture.store.lockState == .locked)
    try await fixture.book.unlock(passphrase: Secret(utf8: "correct horse"))
    #expect(try fixture.store.grant(id)?.secrets.refreshToken == Secret(utf8: "refresh-token-1"))
  }
}
