import Cryptography
import EventLoop
import Locking
import OAuth

/// All accounts of one store, and the credentials that need none: gives routes their token sources, finishes what a crash
/// interrupted, and notices what other processes change. Any thread.
package final class AccountBook: Sendable {
  /// How often the store is asked whether another process changed it.
  static let lookInterval = Duration.seconds(2)

  struct Profile: Sendable {
    let login: LoginProfile
    let client: OAuthClient
  }

  /// A credential without an account.
  struct Other: Sendable {
    let name: String
    let kind: String
    let make: @Sendable (TokenTargetKey) -> TokenSource
    let target: TokenTargetKey
  }

  struct State {
    var profiles: [String: Profile] = [:]
    var others: [String: Other] = [:]
    var sources: [String: [TokenTargetKey: TokenSource]] = [:]
    /// In the order of the configuration.
    var names: [String] = []
    var exportable: Set<String> = []
    var accounts: [AccountName: Account] = [:]
    /// The store as it was at the last look.
    var records: [GrantRecord] = []
    var counter: UInt64?
    var storeFailure: StoreError?
    var isLocked = false
    var watch: Task<Void, Never>?
    var recovering: Set<GrantID> = []
  }

  let world: AccountWorld
  let environment: CredentialEnvironment
  let usesPassphrase: Bool
  let state = Protected(State())

  /// - Parameters:
  ///   - environment: for what belongs to no profile: its clocks, its redactor.
  ///   - step: told of each step of a refresh before the next begins, from any thread.
  package init(
    store: any CredentialStore, usesPassphrase: Bool, unlock: UnlockPolicy, environment: CredentialEnvironment,
    step: @escaping @Sendable (RefreshStep) -> Void = { _ in }
  ) {
    self.environment = environment
    self.usesPassphrase = usesPassphrase
    world = AccountWorld(
      store: SharedStore(store: store), unlocking: UnlockKeeper(unlock, time: environment.time),
      held: HeldGrants(environment.secrets), step: step, bootID: AccountWorld.currentBootID)
  }

  deinit { state.withLock { $0.watch }?.cancel() }

  /// A profile whose accounts live in the store.
  package func add(_ profile: LoginProfile, allowsExport: Bool, environment: CredentialEnvironment) {
    let client = OAuthClient(profile.registration, environment: environment)
    state.withLock { state in
      state.names.append(profile.name)
      state.profiles[profile.name] = Profile(login: profile, client: client)
      if allowsExport { state.exportable.insert(profile.name) }
    }
  }

  /// A credential that needs no account.
  ///
  /// - Parameters:
  ///   - kind: the grant type or kind of secret, for the user.
  ///   - make: makes the source for a target; called once for each.
  package func add(
    _ name: String, kind: String, allowsExport: Bool, target: TokenTargetKey,
    make: @escaping @Sendable (TokenTargetKey) -> TokenSource
  ) {
    state.withLock { state in
      state.names.append(name)
      state.others[name] = Other(name: name, kind: kind, make: make, target: target)
      if allowsExport { state.exportable.insert(name) }
    }
  }

  /// The source of tokens of a credential for a target, the same one every time; nil if there is no such credential.
  package func source(of name: AccountName, target: TokenTargetKey) -> TokenSource? {
    if let account = account(named: name) { return account.source(for: target) }
    guard name.account == nil, let other = state.withLock({ $0.others[name.profile] }) else { return nil }
    if let known = state.withLock({ $0.sources[name.profile]?[target] }) { return known }
    let made = other.make(target)
    return state.withLock { state in
      if let known = state.sources[name.profile]?[target] { return known }
      if state.sources[name.profile, default: [:]].count < Account.sourcesMax {
        state.sources[name.profile, default: [:]][target] = made
      }
      return made
    }
  }

  /// The source of a credential's tokens for what its profile asks for.
  package func ownSource(of name: AccountName) -> TokenSource? {
    let target = state.withLock { $0.profiles[name.profile]?.login.target ?? $0.others[name.profile]?.target }
    return target.flatMap { source(of: name, target: $0) }
  }

  /// The account, made when first asked for; nil if its profile has none.
  func account(named name: AccountName) -> Account? {
    state.withLock { state in
      if let known = state.accounts[name] { return known }
      guard let profile = state.profiles[name.profile] else { return nil }
      let account = Account(
        AccountTokens(name: name, profile: profile.login, client: profile.client, world: world))
      state.accounts[name] = account
      return account
    }
  }

  func profile(_ name: String) -> Profile? { state.withLock { $0.profiles[name] } }

  /// Looks at the store, takes up what a crash interrupted, and keeps looking.
  package func start() {
    let sleep = environment.sleep
    let watch = Task { [weak self] in
      while !Task.isCancelled {
        guard let self else { return }
        await look()
        await sleep(Self.lookInterval)
      }
    }
    state.withLock { $0.watch = watch }
  }

  package func stop() { state.withLock { $0.watch }?.cancel() }

  /// Waits until no refresh is under way: a process that ended in the middle of one would lose what the server answers.
  package func settle() async {
    let sleep = environment.sleep
    while isRefreshing { await sleep(.milliseconds(20)) }
  }

  private var isRefreshing: Bool {
    let (isRecovering, accounts, others) = state.withLock { state in
      (!state.recovering.isEmpty, Array(state.accounts.values), state.sources.values.flatMap(\.values))
    }
    return isRecovering || (accounts.flatMap(\.all).map(\.source) + others).contains { $0.isFetching }
  }

  /// Compares the store with what is known of it, and lets the accounts that changed start over.
  func look() async {
    await lockIfTimeIsUp()
    let store = world.store
    do throws(StoreError) {
      let isLocked = store.store.lockState == .locked
      let counter = try await store.run { (store) throws(StoreError) in try store.changeCounter() }
      guard state.withLock({ $0.counter != counter || $0.isLocked != isLocked || $0.storeFailure != nil }) else {
        return
      }
      let records = try await store.run { (store) throws(StoreError) in try store.records() }
      let isFirst = state.withLock { $0.counter == nil || $0.isLocked && !isLocked }
      await hold(records, isLocked: isLocked)
      take(records, counter: counter, isLocked: isLocked)
      if isFirst, !isLocked { await recover() }
    } catch {
      state.withLock { $0.storeFailure = error }
    }
  }

  /// Takes note of the store as it is.
  private func take(_ records: [GrantRecord], counter: UInt64, isLocked: Bool) {
    let (accounts, before, wasLocked) = state.withLock { state in
      defer {
        state.records = records
        state.counter = counter
        state.isLocked = isLocked
        state.storeFailure = nil
      }
      return (state.accounts.values, state.records, state.isLocked)
    }
    for account in accounts {
      let old = before.first { $0.isMeant(by: account.name) }
      let new = records.first { $0.isMeant(by: account.name) }
      if isLocked && !wasLocked {
        account.startOver(keepsToken: false)
      } else if old?.id != new?.id {
        // A first look finds what was there all the time.
        account.startOver(keepsToken: old == nil)
      } else if wasLocked && !isLocked || old?.condition != new?.condition && new?.condition == .usable {
        account.startOver(keepsToken: true)
      }
    }
    world.held.forget(allBut: Set((before + records).map(\.id)))
  }

  /// The redactor is told of the secrets of every grant that is new or changed.
  private func hold(_ records: [GrantRecord], isLocked: Bool) async {
    guard !isLocked else { return }
    let known = state.withLock { state in
      state.isLocked ? [:] : Dictionary(state.records.map { ($0.id, $0.revision) }, uniquingKeysWith: { $1 })
    }
    let (held, changed) = (world.held, records.filter { known[$0.id] != $0.revision }.map(\.id))
    guard !changed.isEmpty else { return }
    // What can't be opened or masked is not used; whoever wants to use it says so.
    try? await world.store.run { (store) throws(StoreError) in
      for id in changed {
        guard let grant = try? store.grant(id) else { continue }
        try? held.hold(id, grant.secrets)
      }
    }
  }

  /// Refreshes at once what was being refreshed when a process died: the server may still take the old token.
  private func recover() async {
    guard let intents = try? await world.store.run({ (store) throws(StoreError) in try store.intents() }) else {
      return
    }
    let records = state.withLock { $0.records }
    for intent in intents {
      guard let record = records.first(where: { $0.id == intent.grant }),
        let account = account(named: record.name),
        state.withLock({ $0.recovering.insert(intent.grant).inserted })
      else { continue }
      Task {
        try? await account.tokens.recover(intent)  // what it comes to is in the store
        state.withLock { _ = $0.recovering.remove(intent.grant) }
        await self.look()
      }
    }
  }

  func lockIfTimeIsUp() async {
    guard world.unlocking.isOver else { return }
    // What can't be locked is open anyway.
    try? await world.store.run { (store) throws(StoreError) in try store.lock() }
    world.unlocking.locked()
  }
}
