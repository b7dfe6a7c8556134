import Cryptography
import Testing

@testable import Credentials

/// A store in a folder that goes with the test.
final class StoreFixture {
  /// Every secret starts so: a byte of one anywhere else is found.
  static let sentinel = "sentinel-51e07c"

  let folder: TemporaryFolder
  let store: SQLiteCredentialStore

  var state: String { folder.file("state") }
  var keyPath: String { folder.file("config/store.key") }
  var databasePath: String { "\(state)/credentials.sqlite" }

  init(steps: @escaping @Sendable (StoreStep) -> Void = { _ in }) throws {
    folder = try TemporaryFolder()
    store = SQLiteCredentialStore(
      directory: folder.file("state"), key: .file(path: folder.file("config/store.key")), steps: steps)
  }

  /// Another connection, as another process has one.
  func another(key: StoreKeySource? = nil) -> SQLiteCredentialStore {
    SQLiteCredentialStore(directory: state, key: key ?? .file(path: keyPath))
  }

  /// What a login stores.
  @discardableResult
  func insert(_ account: String = "work", profile: String = "acme", replacing: GrantID? = nil) throws -> StoredGrant {
    let grant = Self.grant(account, profile: profile)
    try store.insert(grant, tokens: [Self.token(), Self.token("b")], replacing: replacing)
    return try #require(try store.grant(grant.record.id))
  }

  static func grant(_ account: String = "work", profile: String = "acme") -> StoredGrant {
    StoredGrant(
      record: GrantRecord(
        id: .random(), profile: profile, account: account, tags: ["blue", "two words"],
        issuer: "https://id.example.com", clientID: "abc",
        origins: ["https://id.example.com", "https://api.example.com"],
        scope: ["openid", "read"], proofKeyThumbprint: "JC7nCNXghNbCMCIn7viyuH3sVP_6bw7UL2tU4CZ3xP4",
        createdAtUnixSeconds: 1_796_000_000, lastRefreshAtUnixSeconds: nil, sessionExpiresAtUnixSeconds: 1_796_100_000),
      secrets: GrantSecrets(
        refreshToken: secret("refresh"), previousRefreshToken: secret("previous"), idToken: secret("id"),
        proofKey: secret("key"), authorizationServerNonce: secret("nonce")))
  }

  static func token(_ target: String = "a") -> StoredToken {
    StoredToken(
      target: target, accessToken: secret("access-\(target)"), scheme: "DPoP", receivedAtWallNanoseconds: 1,
      receivedAtBootNanoseconds: 2, bootID: "boot", expiresInSeconds: 300)
  }

  static func secret(_ name: String) -> Secret { Secret(utf8: "\(sentinel)-\(name)") }

  /// Changes the file as somebody would who has no key.
  func alter(_ sql: String, _ values: [SQLiteValue] = []) throws {
    try Database(path: databasePath).run(sql, values)
  }
}

extension GrantSecrets {
  /// All of them, to compare.
  var all: [Secret?] { SealedColumn.ofGrant.map { self[$0] } }
}
