import Cryptography
import Testing

@testable import Credentials

@Suite struct CredentialStoreTests {
  @Test func `where there is no store nothing is found and nothing is made`() throws {
    let fixture = try StoreFixture()
    let id = GrantID.random()
    #expect(try fixture.store.records().isEmpty)
    #expect(try fixture.store.grant(id) == nil)
    #expect(try fixture.store.tokens(of: id).isEmpty)
    #expect(try fixture.store.token(of: id, target: "a") == nil)
    #expect(try fixture.store.intents().isEmpty)
    #expect(try !fixture.store.remove(id))
    #expect(throws: StoreError.conflict) { try fixture.store.makeDefault(id) }
    #expect(throws: StoreError.conflict) {
      try fixture.store.begin(RefreshIntent(grant: id, rotation: 0, startedAtUnixSeconds: 0))
    }
    #expect(fixture.store.lockState == .unlocked)
    #expect(try fixture.folder.entries().isEmpty)
  }

  @Test func `what is stored comes back whole, in this process and the next`() throws {
    let fixture = try StoreFixture()
    let grant = StoreFixture.grant()
    try fixture.store.insert(grant, tokens: [StoreFixture.token()], replacing: nil)
    for store in [fixture.store, fixture.another()] {
      let read = try #require(try store.grant(grant.record.id))
      var expected = grant.record
      expected.isDefault = true
      #expect(read.record == expected)
      #expect(try store.records() == [expected])
      #expect(read.secrets.all == grant.secrets.all)
      let token = try #require(try store.token(of: grant.record.id, target: "a"))
      #expect(token.accessToken == StoreFixture.token().accessToken)
      #expect(token.scheme == "DPoP" && token.receivedAtWallNanoseconds == 1 && token.receivedAtBootNanoseconds == 2)
      #expect(token.bootID == "boot" && token.expiresInSeconds == 300)
    }
  }

  @Test func `what a grant lacks stays nil`() throws {
    let fixture = try StoreFixture()
    let bare = StoredGrant(
      record: GrantRecord(
        id: .random(), profile: "acme", account: "", issuer: nil, clientID: "abc", origins: [], createdAtUnixSeconds: 1),
      secrets: GrantSecrets(refreshToken: nil))
    try fixture.store.insert(bare, tokens: [], replacing: nil)
    let read = try #require(try fixture.another().grant(bare.record.id))
    #expect(read.secrets.all.allSatisfy { $0 == nil })
    #expect(read.record.issuer == nil && read.record.tags.isEmpty && read.record.sessionExpiresAtUnixSeconds == nil)
  }

  @Test func `the first account is the default, and one that replaces the default stays it`() throws {
    let fixture = try StoreFixture()
    let first = try fixture.insert("first")
    let second = try fixture.insert("second")
    let other = try fixture.insert("first", profile: "other")
    #expect(first.record.isDefault && !second.record.isDefault && other.record.isDefault)
    let replacement = try fixture.insert("first", replacing: first.record.id)
    #expect(replacement.record.isDefault)
    #expect(try fixture.store.grant(first.record.id) == nil)
    try fixture.store.makeDefault(second.record.id)
    let defaults = try fixture.store.records().filter(\.isDefault).map(\.id)
    #expect(Set(defaults) == [second.record.id, other.record.id])
    #expect(try fixture.store.remove(second.record.id))
    #expect(try fixture.store.records().filter(\.isDefault).map(\.id) == [other.record.id])
    #expect(try !fixture.insert("third").record.isDefault)
  }

  @Test func `a name belongs to one account`() throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    #expect(throws: StoreError.nameTaken) { try fixture.insert() }
    #expect(try fixture.store.records().map(\.id) == [grant.record.id])
    #expect(try fixture.store.tokens(of: grant.record.id).count == 2)
  }

  @Test func `who read an older revision changes nothing`() throws {
    let fixture = try StoreFixture()
    let read = try fixture.insert()
    var ours = read
    ours.secrets.refreshToken = StoreFixture.secret("ours")
    ours.record.rotation += 1
    let stored = try fixture.store.update(ours, tokens: [], endingIntent: false)
    #expect(stored.record.revision == read.record.revision + 1)
    var theirs = read
    theirs.secrets.refreshToken = StoreFixture.secret("theirs")
    let other = fixture.another()
    #expect(throws: StoreError.conflict) {
      try other.update(theirs, tokens: [StoreFixture.token("c")], endingIntent: false)
    }
    #expect(throws: StoreError.conflict) { try other.update(read.record, endingIntent: false) }
    #expect(try other.grant(read.record.id)?.secrets.refreshToken == StoreFixture.secret("ours"))
    #expect(try other.token(of: read.record.id, target: "c") == nil)
  }

  @Test func `an update stores tokens over those of their target and ends the intent`() throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    let id = grant.record.id
    let intent = RefreshIntent(grant: id, rotation: 0, startedAtUnixSeconds: 7)
    try fixture.store.begin(intent)
    #expect(try fixture.another().intents() == [intent])
    var changed = grant
    changed.record.tags = []
    let token = StoredToken(
      target: "a", accessToken: StoreFixture.secret("new"), scheme: "Bearer", receivedAtWallNanoseconds: 3,
      receivedAtBootNanoseconds: 4, bootID: "other", expiresInSeconds: nil)
    let stored = try fixture.store.update(changed, tokens: [token], endingIntent: true)
    #expect(stored.record.isDefault)
    #expect(try fixture.store.intents().isEmpty)
    #expect(try fixture.store.tokens(of: id).map(\.target) == ["a", "b"])
    #expect(try fixture.store.token(of: id, target: "a")?.accessToken == StoreFixture.secret("new"))
    #expect(try fixture.store.token(of: id, target: "a")?.expiresInSeconds == nil)
  }

  @Test func `a record changes without its secrets, and with all that may change in the open`() throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    try fixture.store.begin(RefreshIntent(grant: grant.record.id, rotation: 0, startedAtUnixSeconds: 7))
    var record = grant.record
    record.condition = .rotationInterrupted
    record.tags = ["x"]
    record.lastRefreshAtUnixSeconds = 5
    let stored = try fixture.store.update(record, endingIntent: true)
    #expect(stored.revision == 1)
    let read = try #require(try fixture.another().grant(record.id))
    #expect(read.record == stored)
    #expect(read.secrets.all == grant.secrets.all)
    #expect(try fixture.store.intents().isEmpty)
  }

  @Test func `a removed grant takes its tokens and its intent along`() throws {
    let fixture = try StoreFixture()
    let (grant, other) = (try fixture.insert(), try fixture.insert("other"))
    try fixture.store.begin(RefreshIntent(grant: grant.record.id, rotation: 0, startedAtUnixSeconds: 7))
    #expect(try fixture.store.remove(grant.record.id))
    #expect(try !fixture.store.remove(grant.record.id))
    #expect(try fixture.store.intents().isEmpty)
    #expect(try Database(path: fixture.databasePath).integer("SELECT count(*) FROM tokens") == 2)
    #expect(try fixture.store.tokens(of: other.record.id).count == 2)
    #expect(throws: StoreError.conflict) { try fixture.store.update(grant, tokens: [], endingIntent: false) }
  }

  @Test func `the counter tells of every change, whoever made it, and of nothing else`() throws {
    let fixture = try StoreFixture()
    let other = fixture.another()
    var seen: Set<UInt64> = [try other.changeCounter()]
    let grant = try fixture.insert()
    #expect(seen.insert(try other.changeCounter()).inserted)
    #expect(!seen.insert(try other.changeCounter()).inserted)
    try fixture.store.makeDefault(grant.record.id)
    #expect(seen.insert(try other.changeCounter()).inserted)
    _ = try other.records()
    #expect(!seen.insert(try other.changeCounter()).inserted)
    try other.endIntent(of: grant.record.id)
    #expect(seen.insert(try other.changeCounter()).inserted)
  }

  @Test func `an intent needs its grant, and is ended by hand too`() throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    #expect(throws: StoreError.conflict) {
      try fixture.store.begin(RefreshIntent(grant: .random(), rotation: 0, startedAtUnixSeconds: 0))
    }
    try fixture.store.begin(RefreshIntent(grant: grant.record.id, rotation: 0, startedAtUnixSeconds: 0))
    try fixture.store.begin(RefreshIntent(grant: grant.record.id, rotation: 1, startedAtUnixSeconds: 2))
    #expect(try fixture.store.intents().map(\.rotation) == [1])
    try fixture.store.endIntent(of: grant.record.id)
    #expect(try fixture.store.intents().isEmpty)
  }
}
