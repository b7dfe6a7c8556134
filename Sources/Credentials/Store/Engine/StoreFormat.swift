/// The tables of a store, their versions, and the way from each to the next.
enum StoreFormat {
  /// `prfd`, in the header of the file. https://sqlite.org/pragma.html#pragma_application_id
  static let applicationID: Int64 = 0x7072_6664
  static var current: Int { 1 + migrations.count }

  /// The format of a file; nil if there is nothing in it yet.
  ///
  /// - Throws: ``StoreError/notAStore(path:)``, ``StoreError/fromTheFuture(version:knownVersion:)``
  static func version(of database: Database) throws(StoreError) -> Int? {
    let application = try database.integer("PRAGMA application_id")
    let version = Int(try database.integer("PRAGMA user_version"))
    if application == 0, version == 0, try database.integer("SELECT count(*) FROM sqlite_schema") == 0 { return nil }
    guard application == applicationID, version >= 1 else { throw .notAStore(path: database.path) }
    guard version <= current else { throw .fromTheFuture(version: version, knownVersion: current) }
    return version
  }

  /// Makes the tables, within a transaction.
  static func create(in database: Database) throws(StoreError) {
    for statement in tables + migrations.joined() { try database.run(statement) }
    try database.run("PRAGMA application_id = \(applicationID)")
    try database.run("PRAGMA user_version = \(current)")
  }

  /// Brings a store to the current format, one after the other, each in a transaction.
  static func migrate(_ database: Database) throws(StoreError) {
    while let version = try version(of: database), version < current {
      try database.transaction({ _ in }) { () throws(StoreError) in
        // Another process may have been faster.
        guard try self.version(of: database) == version else { return }
        for statement in migrations[version - 1] { try database.run(statement) }
        try database.run("PRAGMA user_version = \(version + 1)")
      }
    }
  }

  /// From format 1 to 2, from 2 to 3, and so on.
  private static let migrations = [
    [
      // The database itself sees to it that a profile has one default.
      """
      UPDATE grants SET is_default = 0 WHERE is_default != 0 AND EXISTS (
        SELECT 1 FROM grants AS earlier WHERE earlier.profile = grants.profile AND earlier.is_default != 0
          AND (earlier.created_at, earlier.rowid) < (grants.created_at, grants.rowid))
      """,
      "CREATE UNIQUE INDEX one_default ON grants (profile) WHERE is_default != 0",
    ]
  ]

  /// Those of format 1.
  private static let tables = [
    """
    CREATE TABLE store (
      id TEXT PRIMARY KEY, created_at INTEGER NOT NULL,
      -- NULL: sealed with a key, not with a passphrase. RFC 7914
      scrypt_salt BLOB, scrypt_log_n INTEGER, scrypt_r INTEGER, scrypt_p INTEGER,
      data_key BLOB NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE grants (
      id TEXT PRIMARY KEY, profile TEXT NOT NULL, account TEXT NOT NULL, revision INTEGER NOT NULL,
      rotation INTEGER NOT NULL, is_default INTEGER NOT NULL, tags TEXT NOT NULL, condition TEXT NOT NULL, issuer TEXT,
      client_id TEXT NOT NULL, origins TEXT NOT NULL, scope TEXT NOT NULL, proof_key_thumbprint TEXT,
      created_at INTEGER NOT NULL, last_refresh_at INTEGER, session_expires_at INTEGER,
      refresh_token BLOB, previous_refresh_token BLOB, id_token BLOB, proof_key BLOB, authorization_server_nonce BLOB,
      UNIQUE (profile, account)
    ) STRICT
    """,
    """
    CREATE TABLE tokens (
      grant_id TEXT NOT NULL REFERENCES grants (id) ON DELETE CASCADE, target TEXT NOT NULL, scheme TEXT NOT NULL,
      received_at_wall_ns INTEGER NOT NULL, received_at_boot_ns INTEGER NOT NULL, boot_id TEXT NOT NULL,
      expires_in INTEGER, access_token BLOB NOT NULL,
      PRIMARY KEY (grant_id, target)
    ) STRICT
    """,
    """
    CREATE TABLE intents (
      grant_id TEXT PRIMARY KEY REFERENCES grants (id) ON DELETE CASCADE, rotation INTEGER NOT NULL,
      started_at INTEGER NOT NULL
    ) STRICT
    """,
  ]
}
