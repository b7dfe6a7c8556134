import Cryptography
import Glibc

/// The one row of the table `store`: which store this is, and its data key, sealed.
struct StoreHeader {
  enum Sealing {
    case key
    case passphrase(salt: [UInt8], cost: Scrypt.Cost)
  }

  static let saltBytes = 16

  let id: String
  let sealing: Sealing
  let sealedDataKey: [UInt8]

  static func read(from database: Database) throws(StoreError) -> StoreHeader {
    let headers = try database.rows(
      "SELECT id, scrypt_salt, scrypt_log_n, scrypt_r, scrypt_p, data_key FROM store"
    ) { row throws(StoreError) in
      var sealing = Sealing.key
      if let salt = row.blobOrNil(1) {
        guard let cost = Scrypt.Cost(logN: Int(row.integer(2)), r: Int(row.integer(3)), p: Int(row.integer(4))) else {
          throw .unusable(path: database.path, reason: "what it says of its passphrase is out of bounds")
        }
        sealing = .passphrase(salt: salt, cost: cost)
      }
      return StoreHeader(id: row.text(0), sealing: sealing, sealedDataKey: row.blobOrNil(5) ?? [])
    }
    guard headers.count == 1 else { throw .unusable(path: database.path, reason: "the file is damaged") }
    return headers[0]
  }

  /// The header of a new store.
  static func new(_ dataKey: SealingKey, sealedWith key: SealingKey, _ sealing: Sealing) -> StoreHeader {
    let id = GrantID.random().text
    return StoreHeader(
      id: id, sealing: sealing, sealedDataKey: dataKey.sealed(under: key, for: SealedPlace.dataKey(store: id).bytes))
  }

  func write(to database: Database) throws(StoreError) {
    var scrypt: [SQLiteValue] = [.null, .null, .null, .null]
    if case .passphrase(let salt, let cost) = sealing {
      scrypt = [.blob(salt), .integer(Int64(cost.logN)), .integer(Int64(cost.r)), .integer(Int64(cost.p))]
    }
    try database.run(
      """
      INSERT INTO store (id, created_at, scrypt_salt, scrypt_log_n, scrypt_r, scrypt_p, data_key)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      """,
      [.text(id), .integer(Int64(Glibc.time(nil)))] + scrypt + [.blob(sealedDataKey)])
  }

  /// The data key; nil if it was sealed with another key.
  func dataKey(openedWith key: SealingKey) -> SealingKey? {
    // Every failure to open means the same here.
    (try? key.open(sealedDataKey, for: SealedPlace.dataKey(store: id).bytes)).flatMap(SealingKey.init)
  }
}
