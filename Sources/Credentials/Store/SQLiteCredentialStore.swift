package import Cryptography
import Glibc
import Locking

/// Keeps grants in `credentials.sqlite` of the state directory, every secret sealed on its own. Several processes may use it
/// at the same time.
///
///     let store = SQLiteCredentialStore(directory: state, key: .file(path: "/home/me/.config/proofd/store.key"))
///     for record in try store.records() { … }
package final class SQLiteCredentialStore: CredentialStore {
  private let engine: Protected<StoreEngine>
  private let files: StoreFiles
  private let source: StoreKeySource
  private let cost: Scrypt.Cost

  /// Touches nothing: the file is looked for with each call, and made by the first that has something to store.
  ///
  /// - Parameters:
  ///   - directory: the state directory; made, mode 0700, together with the store.
  ///   - cost: of deriving a new store's key from its passphrase; one that exists says its own.
  ///   - busyMilliseconds: how long a call waits for another process.
  ///   - steps: is told where each write has come to, while it lasts; for tests.
  package init(
    directory: String, key source: StoreKeySource, cost: Scrypt.Cost = .standard, busyMilliseconds: Int32 = 5_000,
    steps: @escaping @Sendable (StoreStep) -> Void = { _ in }
  ) {
    engine = Protected(
      StoreEngine(directory: directory, source: source, busyMilliseconds: busyMilliseconds, steps: steps))
    files = StoreFiles(directory: directory)
    self.source = source
    self.cost = cost
  }

  /// Whether there is a store, of whatever kind.
  package static func exists(in directory: String) -> Bool {
    access(StoreFiles(directory: directory).database, F_OK) == 0
  }

  package func records() throws(StoreError) -> [GrantRecord] {
    try engine.withLock { engine throws(StoreError) in try engine.records() }
  }

  package func grant(_ id: GrantID) throws(StoreError) -> StoredGrant? {
    try engine.withLock { engine throws(StoreError) in try engine.grant(id) }
  }

  package func insert(_ grant: StoredGrant, tokens: [StoredToken], replacing replaced: GrantID?) throws(StoreError) {
    try engine.withLock { engine throws(StoreError) in
      try engine.insert(grant, tokens: tokens, replacing: replaced)
    }
  }

  package func update(
    _ grant: StoredGrant, tokens: [StoredToken], endingIntent: Bool
  ) throws(StoreError) -> StoredGrant {
    try engine.withLock { engine throws(StoreError) in
      try engine.update(grant, tokens: tokens, endingIntent: endingIntent)
    }
  }

  package func update(_ record: GrantRecord, endingIntent: Bool) throws(StoreError) -> GrantRecord {
    try engine.withLock { engine throws(StoreError) in try engine.update(record, endingIntent: endingIntent) }
  }

  package func makeDefault(_ id: GrantID) throws(StoreError) {
    try engine.withLock { engine throws(StoreError) in try engine.makeDefault(id) }
  }

  package func remove(_ id: GrantID) throws(StoreError) -> Bool {
    try engine.withLock { engine throws(StoreError) in try engine.remove(id) }
  }

  package func token(of grant: GrantID, target: String) throws(StoreError) -> StoredToken? {
    try engine.withLock { engine throws(StoreError) in try engine.token(of: grant, target: target) }
  }

  package func tokens(of grant: GrantID) throws(StoreError) -> [StoredToken] {
    try engine.withLock { engine throws(StoreError) in try engine.tokens(of: grant) }
  }

  package func begin(_ intent: RefreshIntent) throws(StoreError) {
    try engine.withLock { engine throws(StoreError) in try engine.begin(intent) }
  }

  package func intents() throws(StoreError) -> [RefreshIntent] {
    try engine.withLock { engine throws(StoreError) in try engine.intents() }
  }

  package func endIntent(of grant: GrantID) throws(StoreError) {
    try engine.withLock { engine throws(StoreError) in try engine.endIntent(of: grant) }
  }

  package func lease(_ grant: GrantID) throws(StoreError) -> (any GrantLease)? {
    try StoreLease.take(grant, in: files)
  }

  package func changeCounter() throws(StoreError) -> UInt64 {
    try engine.withLock { engine throws(StoreError) in try engine.changeCounter() }
  }

  package var lockState: StoreLockState { engine.withLock { $0.lockState } }

  package func unlock(passphrase: Secret) throws(StoreError) {
    let header = try engine.withLock { engine throws(StoreError) in try engine.current()?.header }
    guard let header else { return try create(passphrase) }
    guard case .passphrase(let salt, let cost) = header.sealing else { throw .passphraseNotUsed }
    let key = try derive(passphrase, salt, cost)
    guard let dataKey = header.dataKey(openedWith: key) else { throw .passphraseWrong }
    let isHeld = try engine.withLock { engine throws(StoreError) in try engine.hold(dataKey, of: header) }
    guard isHeld else { throw .conflict }
  }

  package func lock() throws(StoreError) {
    try engine.withLock { engine throws(StoreError) in
      engine.forgetKey()  // first: whatever the store says, it is locked
      if case .key = try engine.current()?.header.sealing { throw .passphraseNotUsed }
    }
  }

  /// Makes the store that a passphrase is given for.
  private func create(_ passphrase: Secret) throws(StoreError) {
    guard source == .passphrase else { throw .passphraseNotUsed }
    guard passphrase.count > 0 else { throw .passphraseWrong }
    let salt = SecureRandom.bytes(StoreHeader.saltBytes)
    let (key, dataKey) = (try derive(passphrase, salt, cost), SealingKey())
    let header = try engine.withLock { engine throws(StoreError) in
      try engine.create(dataKey: dataKey, sealedWith: key, .passphrase(salt: salt, cost: cost)).header
    }
    // Another process may have made one meanwhile, with this passphrase or another.
    guard case .passphrase(salt, cost) = header.sealing else { return try unlock(passphrase: passphrase) }
    _ = try engine.withLock { engine throws(StoreError) in try engine.hold(dataKey, of: header) }
  }

  /// Takes a while, on purpose: not under the lock.
  private func derive(_ passphrase: Secret, _ salt: [UInt8], _ cost: Scrypt.Cost) throws(StoreError) -> SealingKey {
    guard let derived = try? Scrypt.derive(passphrase, salt: salt, cost: cost), let key = SealingKey(derived) else {
      throw .unusable(path: files.database, reason: "there is not enough memory to check the passphrase")
    }
    return key
  }
}
