import Cryptography
import Foundation
import Testing

@testable import Credentials

@Suite struct SealedFieldTests {
  @Test(arguments: SealedColumn.allCases.filter { $0 != .dataKey })
  func `a flipped bit in any byte of a field is told with the record and the field`(column: SealedColumn) throws {
    let fixture = try StoreFixture()
    let (grant, other) = (try fixture.insert(), try fixture.insert("other"))
    let id = grant.record.id
    let row = column == .accessToken ? "grant_id = ? AND target = 'a'" : "id = ?"
    let sealed = try fixture.sealed(column, where: row, id)
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1 << UInt8(index % 8)
      try fixture.alter(
        "UPDATE \(column.table) SET \(column.rawValue) = ? WHERE \(row)", [.blob(changed), .text(id.text)])
      #expect(throws: StoreError.damaged(record: "acme/work", field: column.name)) {
        if column == .accessToken {
          _ = try fixture.store.token(of: id, target: "a")
        } else {
          _ = try fixture.store.grant(id)
        }
      }
    }
    // It hides nothing else.
    #expect(try fixture.store.records().count == 2)
    #expect(try fixture.store.grant(other.record.id)?.secrets.all == other.secrets.all)
    #expect(try fixture.store.tokens(of: id).map(\.target) == (column == .accessToken ? ["b"] : ["a", "b"]))
  }

  @Test func `a flipped bit in the data key is told with the key that does not open it`() throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    let sealed = try fixture.sealed(.dataKey, where: "? IS NOT NULL", grant.record.id)
    for index in sealed.indices {
      var changed = sealed
      changed[index] ^= 1 << UInt8(index % 8)
      try fixture.alter("UPDATE store SET data_key = ?", [.blob(changed)])
      #expect(throws: StoreError.keyWrong(path: fixture.keyPath)) { try fixture.another().grant(grant.record.id) }
    }
  }

  @Test func `a field does not open in another row, column or target`() throws {
    let fixture = try StoreFixture()
    let (grant, other) = (try fixture.insert(), try fixture.insert("other"))
    try fixture.alter(
      "UPDATE grants SET refresh_token = (SELECT refresh_token FROM grants WHERE id = ?) WHERE id = ?",
      [.text(grant.record.id.text), .text(other.record.id.text)])
    #expect(throws: StoreError.damaged(record: "acme/other", field: "the refresh token")) {
      try fixture.store.grant(other.record.id)
    }
    try fixture.alter("UPDATE grants SET previous_refresh_token = refresh_token WHERE account = 'work'")
    #expect(throws: StoreError.damaged(record: "acme/work", field: "the previous refresh token")) {
      try fixture.store.grant(grant.record.id)
    }
    try fixture.alter(
      "UPDATE tokens SET access_token = (SELECT access_token FROM tokens AS t WHERE t.target = 'b') WHERE target = 'a'")
    #expect(throws: StoreError.damaged(record: "acme/work", field: "an access token")) {
      try fixture.store.token(of: grant.record.id, target: "a")
    }
  }

  @Test(arguments: [
    "id = 'another'", "profile = 'evil'", "account = 'evil'", "issuer = 'https://evil.example'", "issuer = NULL",
    "client_id = 'evil'", "origins = '[\"https://evil.example\"]'", "origins = 'x'", "proof_key_thumbprint = 'evil'",
    "created_at = 0", "session_expires_at = 1900000000", "session_expires_at = NULL",
  ])
  func `a copied row or a changed purpose does not open`(change: String) throws {
    let fixture = try StoreFixture()
    try fixture.insert()
    try fixture.alter("DELETE FROM tokens")
    try fixture.alter("UPDATE grants SET \(change)")
    let record = try #require(try fixture.store.records().first)
    #expect(throws: StoreError.damaged(record: record.shownName, field: "the refresh token")) {
      try fixture.store.grant(record.id)
    }
  }

  @Test(arguments: [
    "scheme = 'Bearer'", "target = 'c'", "expires_in = 9999999", "boot_id = 'x'", "received_at_wall_ns = 9",
  ])
  func `a token does not open with another life or target`(change: String) throws {
    let fixture = try StoreFixture()
    let grant = try fixture.insert()
    try fixture.alter("UPDATE tokens SET \(change) WHERE target = 'a'")
    #expect(throws: StoreError.damaged(record: "acme/work", field: "an access token")) {
      try fixture.store.token(of: grant.record.id, target: change.contains("'c'") ? "c" : "a")
    }
  }

  @Test func `a row of another store does not open, although the key file is the same`() throws {
    let (fixture, other) = (try StoreFixture(), try StoreFixture())
    let grant = try fixture.insert()
    let twin = SQLiteCredentialStore(directory: other.state, key: .file(path: fixture.keyPath))
    try twin.insert(grant, tokens: [], replacing: nil)
    let sealed = try fixture.sealed(.refreshToken, where: "id = ?", grant.record.id)
    try other.alter("UPDATE grants SET refresh_token = ?", [.blob(sealed)])
    #expect(throws: StoreError.damaged(record: "acme/work", field: "the refresh token")) {
      try twin.grant(grant.record.id)
    }
  }

  @Test func `no secret is in any file of the store, whatever was done`() throws {
    let fixture = try StoreFixture()
    var grant = try fixture.insert()
    let other = try fixture.insert("other")
    for index in 0..<20 {
      grant.secrets.previousRefreshToken = grant.secrets.refreshToken
      grant.secrets.refreshToken = StoreFixture.secret("rotated-\(index)")
      grant = try fixture.store.update(grant, tokens: [StoreFixture.token("t-\(index)")], endingIntent: true)
    }
    _ = try fixture.store.remove(other.record.id)
    _ = try fixture.insert("third")
    let names = try fixture.folder.entries(of: "state")
    #expect(Set(names) == ["credentials.sqlite", "credentials.sqlite-shm", "credentials.sqlite-wal", "leases"])
    var found = false
    for name in names where name != "leases" {
      let bytes = try Data(contentsOf: URL(filePath: "\(fixture.state)/\(name)"))
      #expect(bytes.range(of: Data(StoreFixture.sentinel.utf8)) == nil, "\(name)")
      if bytes.range(of: Data("https://id.example.com".utf8)) != nil { found = true }
    }
    #expect(found, "what is not secret shows that the search finds")
  }
}

extension StoreFixture {
  /// What is stored in a column of the row that `condition` finds by the grant's identity.
  func sealed(_ column: SealedColumn, where condition: String, _ id: GrantID) throws -> [UInt8] {
    let found = try Database(path: databasePath).rows(
      "SELECT \(column.rawValue) FROM \(column.table) WHERE \(condition)", [.text(id.text)]
    ) { $0.blobOrNil(0) }
    return try #require(found.compactMap(\.self).first)
  }
}
