import Cryptography

/// A row of the table `tokens`, whose token is sealed, and whose it is.
struct TokenRow {
  let grant: GrantID
  let profile: String
  let account: String
  let target: String
  let scheme: String
  let receivedAtWallNanoseconds: Int64
  let receivedAtBootNanoseconds: Int64
  let bootID: String
  let expiresInSeconds: Int64?

  init(_ token: StoredToken, of record: GrantRecord) {
    grant = record.id
    profile = record.profile
    account = record.account
    target = token.target
    scheme = token.scheme
    receivedAtWallNanoseconds = token.receivedAtWallNanoseconds
    receivedAtBootNanoseconds = token.receivedAtBootNanoseconds
    bootID = token.bootID
    expiresInSeconds = token.expiresInSeconds
  }

  static let columns = """
    grant_id, profile, account, target, scheme, received_at_wall_ns, received_at_boot_ns, boot_id, expires_in, access_token
    """

  init(_ row: borrowing Statement) {
    grant = GrantID(row.text(0))
    profile = row.text(1)
    account = row.text(2)
    target = row.text(3)
    scheme = row.text(4)
    receivedAtWallNanoseconds = row.integer(5)
    receivedAtBootNanoseconds = row.integer(6)
    bootID = row.text(7)
    expiresInSeconds = row.integerOrNil(8)
  }

  func token(_ accessToken: Secret) -> StoredToken {
    StoredToken(
      target: target, accessToken: accessToken, scheme: scheme, receivedAtWallNanoseconds: receivedAtWallNanoseconds,
      receivedAtBootNanoseconds: receivedAtBootNanoseconds, bootID: bootID, expiresInSeconds: expiresInSeconds)
  }
}

extension StoreEngine {
  func token(of grant: GrantID, target: String) throws(StoreError) -> StoredToken? {
    guard let store = try current() else { return nil }
    guard
      let (row, sealed) = try tokenRows(store, "grant_id = ? AND target = ?", [.text(grant.text), .text(target)]).first
    else { return nil }
    return try open(row, sealed, try dataKey(of: store), store)
  }

  /// Those that open: one that does not is told of by ``token(of:target:)``, and hides no other.
  func tokens(of grant: GrantID) throws(StoreError) -> [StoredToken] {
    guard let store = try current() else { return [] }
    let rows = try tokenRows(store, "grant_id = ?", [.text(grant.text)])
    guard !rows.isEmpty else { return [] }
    let key = try dataKey(of: store)
    return rows.compactMap { row, sealed in try? open(row, sealed, key, store) }
  }

  private func tokenRows(
    _ store: OpenStore, _ condition: String, _ values: [SQLiteValue]
  ) throws(StoreError) -> [(TokenRow, [UInt8])] {
    try store.database.rows(
      """
      SELECT \(TokenRow.columns) FROM tokens JOIN grants ON grants.id = grant_id WHERE \(condition) ORDER BY target
      """, values
    ) { row in (TokenRow(row), row.blobOrNil(9) ?? []) }
  }

  private func open(
    _ row: TokenRow, _ sealed: [UInt8], _ key: SealingKey, _ store: OpenStore
  ) throws(StoreError) -> StoredToken {
    let name = row.account.isEmpty ? row.profile : "\(row.profile)/\(row.account)"
    return row.token(try key.open(sealed, at: .accessToken(row, store: store.header.id), record: name))
  }

  /// Writes tokens over those of the same target, within a transaction.
  func put(_ tokens: [StoredToken], of record: GrantRecord, _ key: SealingKey, _ store: OpenStore) throws(StoreError) {
    for token in tokens {
      let row = TokenRow(token, of: record)
      try store.database.run(
        """
        INSERT OR REPLACE INTO tokens
          (grant_id, target, scheme, received_at_wall_ns, received_at_boot_ns, boot_id, expires_in, access_token)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          .text(record.id.text), .text(row.target), .text(row.scheme), .integer(row.receivedAtWallNanoseconds),
          .integer(row.receivedAtBootNanoseconds), .text(row.bootID), .integer(row.expiresInSeconds),
          .blob(key.seal(token.accessToken, for: SealedPlace.accessToken(row, store: store.header.id).bytes)),
        ])
      try forgetTokens(of: record, endedBefore: row.receivedAtWallNanoseconds - Self.keptAfterEnd.nanoseconds, store)
    }
  }

  /// What ended long ago serves nobody, and audiences that were asked for once would pile up.
  private func forgetTokens(
    of record: GrantRecord, endedBefore wallNanoseconds: Int64, _ store: OpenStore
  ) throws(StoreError) {
    try store.database.run(
      "DELETE FROM tokens WHERE grant_id = ? AND received_at_wall_ns / 1000000000 + expires_in < ?",
      [.text(record.id.text), .integer(wallNanoseconds / 1_000_000_000)])
  }

  private static var keptAfterEnd: Duration { .seconds(3600) }

  func begin(_ intent: RefreshIntent) throws(StoreError) {
    guard let store = try current() else { throw .conflict }
    try write(store) { database throws(StoreError) in
      let grant = SQLiteValue.text(intent.grant.text)
      guard try database.integer("SELECT count(*) FROM grants WHERE id = ?", [grant]) == 1 else { throw .conflict }
      try database.run(
        "INSERT OR REPLACE INTO intents (grant_id, rotation, started_at) VALUES (?, ?, ?)",
        [grant, .integer(intent.rotation), .integer(intent.startedAtUnixSeconds)])
    }
  }

  func intents() throws(StoreError) -> [RefreshIntent] {
    guard let store = try current() else { return [] }
    return try store.database.rows("SELECT grant_id, rotation, started_at FROM intents ORDER BY started_at, grant_id") {
      row in
      RefreshIntent(grant: GrantID(row.text(0)), rotation: row.integer(1), startedAtUnixSeconds: row.integer(2))
    }
  }

  func endIntent(of grant: GrantID) throws(StoreError) {
    guard let store = try current() else { return }
    try write(store) { database throws(StoreError) in
      try database.run("DELETE FROM intents WHERE grant_id = ?", [.text(grant.text)])
    }
  }
}
