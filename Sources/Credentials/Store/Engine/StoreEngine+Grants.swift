import Cryptography
import HTTPWire

/// Texts in one column, as a JSON array.
enum StoredList {
  static func text(_ list: [String]) -> String {
    String(decoding: JSONValue.array(list.map { .string($0) }).serialised(), as: UTF8.self)
  }

  /// Empty if it is no such array: somebody has changed it, and nothing is safer than something.
  static func list(_ text: String) -> [String] { (try? JSONValue(parsing: text))?.stringArrayValue ?? [] }
}

extension GrantRecord {
  static let columns = """
    id, profile, account, revision, rotation, is_default, tags, condition, issuer, client_id, origins, scope,
    proof_key_thumbprint, created_at, last_refresh_at, session_expires_at
    """
  static let columnCount: Int32 = 16

  init(_ row: borrowing Statement) {
    self.init(
      id: GrantID(row.text(0)), profile: row.text(1), account: row.text(2), revision: row.integer(3),
      rotation: row.integer(4), isDefault: row.integer(5) != 0, tags: StoredList.list(row.text(6)),
      condition: GrantCondition(rawValue: row.text(7)) ?? .refused, issuer: row.textOrNil(8), clientID: row.text(9),
      origins: StoredList.list(row.text(10)), scope: StoredList.list(row.text(11)),
      proofKeyThumbprint: row.textOrNil(12),
      createdAtUnixSeconds: row.integer(13), lastRefreshAtUnixSeconds: row.integerOrNil(14),
      sessionExpiresAtUnixSeconds: row.integerOrNil(15))
  }

  /// For a message.
  var shownName: String { account.isEmpty ? profile : "\(profile)/\(account)" }
}

extension GrantSecrets {
  subscript(column: SealedColumn) -> Secret? {
    switch column {
    case .refreshToken: refreshToken
    case .previousRefreshToken: previousRefreshToken
    case .idToken: idToken
    case .proofKey: proofKey
    case .authorizationServerNonce: authorizationServerNonce
    case .dataKey, .accessToken: nil
    }
  }
}

extension StoreEngine {
  func records() throws(StoreError) -> [GrantRecord] {
    guard let store = try current() else { return [] }
    return try store.database.rows("SELECT \(GrantRecord.columns) FROM grants ORDER BY profile, account") { row in
      GrantRecord(row)
    }
  }

  func grant(_ id: GrantID) throws(StoreError) -> StoredGrant? {
    guard let store = try current() else { return nil }
    let sealedColumns = SealedColumn.ofGrant.map(\.rawValue).joined(separator: ", ")
    let found = try store.database.rows(
      "SELECT \(GrantRecord.columns), \(sealedColumns) FROM grants WHERE id = ?", [.text(id.text)]
    ) { row in
      (GrantRecord(row), SealedColumn.ofGrant.indices.map { row.blobOrNil(GrantRecord.columnCount + Int32($0)) })
    }
    guard let (record, sealed) = found.first else { return nil }
    let key = try dataKey(of: store)
    var secrets: [Secret?] = []
    for (column, bytes) in zip(SealedColumn.ofGrant, sealed) {
      secrets.append(
        try bytes.map { bytes throws(StoreError) in
          try key.open(bytes, at: .grant(column, of: record, store: store.header.id), record: record.shownName)
        })
    }
    return StoredGrant(
      record: record,
      secrets: GrantSecrets(
        refreshToken: secrets[0], previousRefreshToken: secrets[1], idToken: secrets[2], proofKey: secrets[3],
        authorizationServerNonce: secrets[4]))
  }

  func insert(_ grant: StoredGrant, tokens: [StoredToken], replacing replaced: GrantID?) throws(StoreError) {
    let (store, key) = try opened()
    let record = grant.record
    try write(store) { database throws(StoreError) in
      let had = try database.integer("SELECT count(*) FROM grants WHERE profile = ?", [.text(record.profile)])
      var isDefault = had == 0
      if let replaced {
        let wasDefault = try database.integer(
          "SELECT is_default FROM grants WHERE id = ? AND profile = ?", [.text(replaced.text), .text(record.profile)])
        isDefault = isDefault || wasDefault != 0
        try database.run("DELETE FROM grants WHERE id = ?", [.text(replaced.text)])
      }
      guard
        try database.integer(
          "SELECT count(*) FROM grants WHERE (profile = ? AND account = ?) OR id = ?",
          [.text(record.profile), .text(record.account), .text(record.id.text)]) == 0
      else { throw .nameTaken }
      try database.run(
        """
        INSERT INTO grants (revision, rotation, tags, condition, issuer, client_id, origins, scope, proof_key_thumbprint,
          created_at, last_refresh_at, session_expires_at, refresh_token, previous_refresh_token, id_token, proof_key,
          authorization_server_nonce, id, profile, account, is_default)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        Self.values(of: grant, revision: record.revision, key, store)
          + [.text(record.id.text), .text(record.profile), .text(record.account), .integer(isDefault ? 1 : 0)])
      try put(tokens, of: record, key, store)
    }
  }

  func update(_ grant: StoredGrant, tokens: [StoredToken], endingIntent: Bool) throws(StoreError) -> StoredGrant {
    guard let store = try current() else { throw .conflict }
    let key = try dataKey(of: store)
    let record = grant.record
    var changed = grant
    changed.record.revision &+= 1
    changed.record.isDefault = try write(store) { database throws(StoreError) in
      let count = try database.run(
        """
        UPDATE grants SET revision = ?, rotation = ?, tags = ?, condition = ?, issuer = ?, client_id = ?, origins = ?,
          scope = ?, proof_key_thumbprint = ?, created_at = ?, last_refresh_at = ?, session_expires_at = ?,
          refresh_token = ?, previous_refresh_token = ?, id_token = ?, proof_key = ?, authorization_server_nonce = ?
        WHERE id = ? AND profile = ? AND account = ? AND revision = ?
        """,
        Self.values(of: grant, revision: record.revision &+ 1, key, store)
          + [.text(record.id.text), .text(record.profile), .text(record.account), .integer(record.revision)])
      guard count == 1 else { throw .conflict }
      try put(tokens, of: record, key, store)
      return try finish(record.id, endingIntent: endingIntent, database)
    }
    return changed
  }

  func update(_ record: GrantRecord, endingIntent: Bool) throws(StoreError) -> GrantRecord {
    guard let store = try current() else { throw .conflict }
    var changed = record
    changed.revision &+= 1
    changed.isDefault = try write(store) { database throws(StoreError) in
      let count = try database.run(
        """
        UPDATE grants SET revision = ?, rotation = ?, tags = ?, condition = ?, scope = ?, last_refresh_at = ?
        WHERE id = ? AND revision = ?
        """,
        [
          .integer(record.revision &+ 1), .integer(record.rotation), .text(StoredList.text(record.tags)),
          .text(record.condition.rawValue), .text(StoredList.text(record.scope)),
          .integer(record.lastRefreshAtUnixSeconds), .text(record.id.text), .integer(record.revision),
        ])
      guard count == 1 else { throw .conflict }
      return try finish(record.id, endingIntent: endingIntent, database)
    }
    return changed
  }

  /// Whether the changed grant is the default; nobody but ``makeDefault(_:)`` changes that.
  private func finish(_ id: GrantID, endingIntent: Bool, _ database: Database) throws(StoreError) -> Bool {
    if endingIntent { try database.run("DELETE FROM intents WHERE grant_id = ?", [.text(id.text)]) }
    return try database.integer("SELECT is_default FROM grants WHERE id = ?", [.text(id.text)]) != 0
  }

  func makeDefault(_ id: GrantID) throws(StoreError) {
    guard let store = try current() else { throw .conflict }
    try write(store) { database throws(StoreError) in
      let one: [SQLiteValue] = [.text(id.text)]
      guard try database.integer("SELECT count(*) FROM grants WHERE id = ?", one) == 1 else { throw .conflict }
      try database.run(
        "UPDATE grants SET is_default = 0 WHERE profile = (SELECT profile FROM grants WHERE id = ?)", one)
      try database.run("UPDATE grants SET is_default = 1 WHERE id = ?", one)
    }
  }

  func remove(_ id: GrantID) throws(StoreError) -> Bool {
    guard let store = try current() else { return false }
    let count = try write(store) { database throws(StoreError) in
      try database.run("DELETE FROM grants WHERE id = ?", [.text(id.text)])
    }
    // What was removed leaves the log too; if somebody is reading it, it goes later.
    _ = try? store.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    return count > 0
  }

  /// The values of the columns that change, in the order the statements name them.
  private static func values(
    of grant: StoredGrant, revision: Int64, _ key: SealingKey, _ store: OpenStore
  ) -> [SQLiteValue] {
    let record = grant.record
    let open: [SQLiteValue] = [
      .integer(revision), .integer(record.rotation), .text(StoredList.text(record.tags)),
      .text(record.condition.rawValue), .text(record.issuer), .text(record.clientID),
      .text(StoredList.text(record.origins)), .text(StoredList.text(record.scope)), .text(record.proofKeyThumbprint),
      .integer(record.createdAtUnixSeconds), .integer(record.lastRefreshAtUnixSeconds),
      .integer(record.sessionExpiresAtUnixSeconds),
    ]
    return open
      + SealedColumn.ofGrant.map { column in
        .blob(
          grant.secrets[column].map {
            key.seal($0, for: SealedPlace.grant(column, of: record, store: store.header.id).bytes)
          })
      }
  }
}

extension SealingKey {
  func open(_ sealed: [UInt8], at place: SealedPlace, record: String) throws(StoreError) -> Secret {
    do {
      return try open(sealed, for: place.bytes)
    } catch {
      throw .damaged(record: record, field: place.column.name)
    }
  }
}
