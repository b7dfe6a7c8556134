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
    /// Whose token it exchanges, if that is another credential's.
    let subject: AccountName?
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
    /// Grants that were there at the last look.
    var seen: Set<GrantID> = []
    /// Those that were there at the look before and not at the last: what was said of them may still be on its way.
    var gone: Set<GrantID> = []

    /// The sources of what this credential's token is exchanged for, and of what that is exchanged for in turn. The
    /// configuration has no circles.
    func exchanged(for name: AccountName) -> [TokenSource] {
      others.values.filter { $0.subject == name }.flatMap { other in
        Array((sources[other.name] ?? [:]).values) + exchanged(for: AccountName(profile: other.name))
      }
    }
  }

  let world: AccountWorld
  let environment: CredentialEnvironment
  let usesPassphrase: Bool
  let state = Protected(State())
  /// One look at the store at a time, and one try of a passphrase.
  private let looking = AsyncTurn()
  let passphrases = AsyncTurn()

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
      store: store, unlocking: UnlockKeeper(unlock, time: environment.time), held: HeldGrants(environment.secrets),
      step: step)
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
  ///   - subject: whose token it exchanges, if that is another credential's.
  ///   - make: makes the source for a target; called once for each.
  package func add(
    _ name: String, kind: String, allowsExport: Bool, target: TokenTargetKey, subject: AccountName? = nil,
    make: @escaping @Sendable (TokenTargetKey) -> TokenSource
  ) {
    state.withLock { state in
      state.names.append(name)
      state.others[name] = Other(name: name, kind: kind, make: make, target: target, subject: subject)
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
    let rest = environment.sleep
    let watch = Task { [weak self] in
      while !Task.isCancelled {
        guard let self else { return }
        await look()
        await recover()
        await rest(Self.lookInterval)
      }
    }
    state.withLock { $0.watch = watch }
  }

  /// Begins no refresh any more, and waits until those under way have come to their end and are stored: a process that
  /// ended in the middle of one would lose what the server answers.
  package func stop() async {
    state.withLock { $0.watch }?.cancel()
    world.stop()
    for session in world.sessions.all {
      await session.turn.enter()
      session.turn.leave()
    }
    await storeWhatIsPending()
    let lost = world.sessions.all.contains { $0.pending != nil }
    guard lost else { return }
    environment.troubles(
      CredentialTrouble(
        credential: "accounts", code: "answer_not_stored",
        detail: "the answer to a refresh could not be stored before the end",
        next: "See proofd status after the next start."))
  }

  /// Compares the store with what is known of it, and lets the accounts that changed start over.
  func look() async {
    await looking.enter()
    defer { looking.leave() }
    if world.unlocking.isOver { try? await world.lock() }  // one that takes no passphrase stays open
    let store = world.store
    do throws(StoreError) {
      let isLocked = await store.isLocked
      let counter = try await store.run { (store) throws(StoreError) in try store.changeCounter() }
      let isKnown = state.withLock { $0.counter == counter && $0.isLocked == isLocked && $0.storeFailure == nil }
      if !isKnown {
        let records = try await store.run { (store) throws(StoreError) in try store.records() }
        await hold(records, isLocked: isLocked)
        take(records, counter: counter, isLocked: isLocked)
      }
    } catch {
      state.withLock { $0.storeFailure = error }
    }
    await storeWhatIsPending()
    forgetWhatIsGone()
  }

  /// Takes note of the store as it is.
  private func take(_ records: [GrantRecord], counter: UInt64, isLocked: Bool) {
    let (accounts, before, wasLocked, isFirst) = state.withLock { state in
      defer {
        state.records = records
        state.counter = counter
        state.isLocked = isLocked
        state.storeFailure = nil
      }
      return (Array(state.accounts.values), state.records, state.isLocked, state.counter == nil)
    }
    for account in accounts {
      let old = before.first { $0.isMeant(by: account.name) }
      let new = records.first { $0.isMeant(by: account.name) }
      if isLocked {
        if !wasLocked { startOver(account, keepsToken: false, keepsMask: false) }
      } else if old?.id != new?.id {
        // A first look finds what was there all the time: it is news only to whoever found nobody.
        guard !isFirst || account.needsLogin else { continue }
        startOver(account, keepsToken: old == nil, keepsMask: true)
      } else if wasLocked || old?.condition != new?.condition && new?.condition == .usable {
        if let new { world.sessions.session(of: new.id).startOver() }
        startOver(account, keepsToken: true, keepsMask: true)
      }
    }
  }

  /// The account, and whatever was exchanged for its token.
  private func startOver(_ account: Account, keepsToken: Bool, keepsMask: Bool) {
    account.startOver(keepsToken: keepsToken, keepsMask: keepsMask)
    for source in state.withLock({ $0.exchanged(for: account.name) }) {
      source.startOver(keepsToken: keepsToken, keepsMask: keepsMask)
    }
  }

  /// The redactor is told of the secrets of every grant that is new or changed.
  private func hold(_ records: [GrantRecord], isLocked: Bool) async {
    guard !isLocked, world.unlocking.mayOpen else { return }
    let held = world.held
    let changed = records.filter { held.revision(of: $0.id) != $0.revision }.map(\.id)
    guard !changed.isEmpty else { return }
    // What can't be opened or masked is not used; whoever wants to use it says so.
    try? await world.store.run { (store) throws(StoreError) in
      for id in changed { if let grant = try? store.grant(id) { try? held.hold(grant) } }
    }
  }

  /// A locked store's secrets are forgotten at once, those of a grant that is gone one look later.
  private func forgetWhatIsGone() {
    let (gone, isLocked) = state.withLock { state in
      let current = Set(state.records.map(\.id))
      defer {
        state.gone = state.seen.subtracting(current)
        state.seen = current
      }
      return (state.gone, state.isLocked)
    }
    if isLocked { world.held.forgetAll() } else { world.held.forget(gone) }
    world.sessions.forget(gone)
  }

  /// Answers that the store could not take when they came.
  private func storeWhatIsPending() async {
    for session in world.sessions.all where session.pending != nil {
      guard let owner = account(of: session) else { continue }
      await session.turn.enter()
      defer { session.turn.leave() }
      try? await owner.tokens.storeWhatIsPending(of: session)  // if not now, then at the next look
    }
  }

  private func account(of session: GrantSession) -> Account? {
    let name = state.withLock { state in state.records.first { $0.id == session.id }?.name }
    return (name ?? session.pending?.name).flatMap { account(named: $0) }
  }

  /// Refreshes at once what was being refreshed when a process died, and again until the server has said what became of
  /// it: it may still take the old token.
  private func recover() async {
    let (records, isLocked) = state.withLock { ($0.records, $0.isLocked) }
    guard !isLocked, world.unlocking.policy != .always,
      let intents = try? await world.store.run({ (store) throws(StoreError) in try store.intents() })
    else { return }
    for intent in intents {
      guard let record = records.first(where: { $0.id == intent.grant }), record.condition == .usable,
        let account = account(named: record.name),
        state.withLock({ $0.recovering.insert(intent.grant).inserted })
      else { continue }
      let rest = environment.sleep
      Task { [weak self] in
        var pause = FetchBackoff.unavailable.lowerBound
        while !Task.isCancelled, let self, await !isRecovered(intent, account) {
          await rest(pause)
          pause = min(pause * 2, FetchBackoff.unavailable.upperBound)
        }
        self?.state.withLock { _ = $0.recovering.remove(intent.grant) }
        await self?.look()
      }
    }
  }

  /// Whether there is nothing more to find out, or nobody to ask any more.
  private func isRecovered(_ intent: RefreshIntent, _ account: Account) async -> Bool {
    do throws(FetchFailure) {
      return try await account.tokens.recover(intent)
    } catch {
      return error.kind != .unavailable || error.code == "stopping"
    }
  }
}
