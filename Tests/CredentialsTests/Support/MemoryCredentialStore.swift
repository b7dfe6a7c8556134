import Cryptography
import Locking

@testable import Credentials

/// A store that forgets everything with the test, and fails when the test says so.
final class MemoryCredentialStore: CredentialStore {
  private struct State {
    var grants: [GrantID: StoredGrant] = [:]
    var tokens: [GrantID: [String: StoredToken]] = [:]
    var intents: [GrantID: RefreshIntent] = [:]
    var leased: Set<GrantID> = []
    var changes: UInt64 = 0
    var lockState = StoreLockState.unlocked
    var passphrase: Secret?
    var failure: StoreError?
  }
  private let state = Protected(State())

  /// Every call that writes fails with this until it is nil again.
  func failWrites(with failure: StoreError?) { state.withLock { $0.failure = failure } }
  func seal(with passphrase: Secret) { state.withLock { $0.passphrase = passphrase } }

  /// What another process would do.
  func change(_ id: GrantID, _ body: (inout StoredGrant) -> Void) {
    state.withLock { state in
      guard var grant = state.grants[id] else { return }
      body(&grant)
      grant.record.revision += 1
      state.grants[id] = grant
      state.changes += 1
    }
  }

  func records() throws(StoreError) -> [GrantRecord] {
    state.withLock { $0.grants.values.map(\.record) }.sorted { ($0.profile, $0.account) < ($1.profile, $1.account) }
  }

  func grant(_ id: GrantID) throws(StoreError) -> StoredGrant? {
    if state.withLock({ $0.lockState }) == .locked { throw .locked }
    return state.withLock { $0.grants[id] }
  }

  func insert(_ grant: StoredGrant, tokens: [StoredToken], replacing replaced: GrantID?) throws(StoreError) {
    try write { (state) throws(StoreError) in
      let record = grant.record
      let holder = state.grants.values.first {
        $0.record.profile == record.profile && $0.record.account == record.account
      }
      guard holder == nil || holder?.record.id == replaced else { throw .nameTaken }
      let isFirst = !state.grants.values.contains { $0.record.profile == record.profile }
      var new = grant
      new.record.isDefault = isFirst || replaced.flatMap { state.grants[$0]?.record.isDefault } == true
      if let replaced { Self.forget(replaced, &state) }
      state.grants[record.id] = new
      state.tokens[record.id] = Dictionary(tokens.map { ($0.target, $0) }, uniquingKeysWith: { $1 })
    }
  }

  func update(
    _ grant: StoredGrant, tokens: [StoredToken], endingIntent: Bool
  ) throws(StoreError) -> StoredGrant {
    try write { (state) throws(StoreError) in
      guard state.grants[grant.record.id]?.record.revision == grant.record.revision else { throw .conflict }
      var new = grant
      new.record.revision += 1
      state.grants[grant.record.id] = new
      for token in tokens { state.tokens[grant.record.id, default: [:]][token.target] = token }
      if endingIntent { state.intents[grant.record.id] = nil }
      return new
    }
  }

  func update(_ record: GrantRecord, endingIntent: Bool) throws(StoreError) -> GrantRecord {
    try write { (state) throws(StoreError) in
      guard var grant = state.grants[record.id], grant.record.revision == record.revision else { throw .conflict }
      grant.record = record
      grant.record.revision += 1
      state.grants[record.id] = grant
      if endingIntent { state.intents[record.id] = nil }
      return grant.record
    }
  }

  func makeDefault(_ id: GrantID) throws(StoreError) {
    try write { (state) throws(StoreError) in
      guard let profile = state.grants[id]?.record.profile else { throw .conflict }
      for key in state.grants.keys where state.grants[key]?.record.profile == profile {
        state.grants[key]?.record.isDefault = key == id
      }
    }
  }

  func remove(_ id: GrantID) throws(StoreError) -> Bool {
    try write { (state) throws(StoreError) in
      defer { Self.forget(id, &state) }
      return state.grants[id] != nil
    }
  }

  func token(of grant: GrantID, target: String) throws(StoreError) -> StoredToken? {
    state.withLock { $0.tokens[grant]?[target] }
  }
  func tokens(of grant: GrantID) throws(StoreError) -> [StoredToken] {
    state.withLock { Array(($0.tokens[grant] ?? [:]).values) }
  }
  func begin(_ intent: RefreshIntent) throws(StoreError) {
    try write { (state) throws(StoreError) in state.intents[intent.grant] = intent }
  }
  func intents() throws(StoreError) -> [RefreshIntent] { state.withLock { Array($0.intents.values) } }
  func endIntent(of grant: GrantID) throws(StoreError) {
    try write { (state) throws(StoreError) in state.intents[grant] = nil }
  }

  func lease(_ grant: GrantID) throws(StoreError) -> (any GrantLease)? {
    state.withLock { $0.leased.insert(grant).inserted } ? Lease(grant, self) : nil
  }

  func changeCounter() throws(StoreError) -> UInt64 { state.withLock { $0.changes } }
  var lockState: StoreLockState { state.withLock { $0.lockState } }

  func unlock(passphrase: Secret) throws(StoreError) {
    guard let known = state.withLock({ $0.passphrase }) else { throw .passphraseNotUsed }
    guard known == passphrase else { throw .passphraseWrong }
    state.withLock { $0.lockState = .unlocked }
  }

  func lock() throws(StoreError) {
    guard state.withLock({ $0.passphrase }) != nil else { throw .passphraseNotUsed }
    state.withLock { $0.lockState = .locked }
  }

  private func write<R: Sendable>(_ body: (inout State) throws(StoreError) -> R) throws(StoreError) -> R {
    let result = state.withLock { state -> Result<R, StoreError> in
      if let failure = state.failure { return .failure(failure) }
      return Result { () throws(StoreError) in
        let result = try body(&state)
        state.changes += 1
        return result
      }
    }
    return try result.get()
  }

  private static func forget(_ id: GrantID, _ state: inout State) {
    state.grants[id] = nil
    state.tokens[id] = nil
    state.intents[id] = nil
  }

  private final class Lease: GrantLease {
    private let held: Protected<(GrantID, MemoryCredentialStore)?>

    init(_ id: GrantID, _ store: MemoryCredentialStore) { held = Protected((id, store)) }
    deinit { release() }

    func release() {
      let released = held.withLock { held in
        defer { held = nil }
        return held
      }
      if let (id, store) = released { store.state.withLock { _ = $0.leased.remove(id) } }
    }
  }
}
