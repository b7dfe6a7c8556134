import Cryptography
import EventLoop
import HTTPWire
import OAuth

/// Brings the tokens of one account: from the store, or by a refresh that loses nothing. Any task.
///
/// One call at a time for the account, in this process by a turn and across processes by the store's lease; calls for other
/// accounts are not held up. What was received is durable before it is given out.
final class AccountTokens: Sendable {
  /// As routes name it: without an account it is whichever is the default.
  let name: AccountName
  let profile: LoginProfile
  let client: OAuthClient
  let nonces = NonceCells()
  let world: AccountWorld
  /// What a profile that logs in by itself does it with.
  let password: HeldSecretReader?
  private let turn = AsyncTurn()
  /// An answer the store could not take yet.
  let pending = PendingAnswer()

  /// How long another process may keep the lease before we say so.
  static let leaseWait = Duration.seconds(30)
  private static let leaseLook = Duration.milliseconds(5)...Duration.milliseconds(200)
  /// How often a grant may turn into another one under our hands.
  private static let readsMax = 4

  init(name: AccountName, profile: LoginProfile, client: OAuthClient, world: AccountWorld) {
    self.name = name
    self.profile = profile
    self.client = client
    self.world = world
    password =
      if case .password(_, let origin) = profile.origin {
        HeldSecretReader(origin, environment: client.environment)
      } else { nil }
  }

  var environment: CredentialEnvironment { client.environment }

  /// A token for `target` that is good for what `need` says.
  func token(for target: TokenTargetKey, _ need: FetchNeed) async throws(FetchFailure) -> FetchedToken {
    await turn.enter()
    defer { turn.leave() }
    try await storeWhatIsPending()
    for _ in 0..<Self.readsMax { if let fetched = try await attempt(target, need) { return fetched } }
    throw FetchFailure(kind: .unavailable, code: "conflict", detail: "the account \(name) changes all the time")
  }

  /// One look at the account, and what follows from it; nil if it became another one under our hands.
  private func attempt(_ target: TokenTargetKey, _ need: FetchNeed) async throws(FetchFailure) -> FetchedToken? {
    guard let seen = try await grant() else { return try await first(for: target) }
    let isOver = makesItself && seen.record.condition != .usable
    if !isOver, let stored = try await stored(target, of: seen, need, try binding(of: seen)) { return stored }
    let lease = try await lease(seen.record.id)
    defer { lease.release() }
    world.step(.leased)
    // Whoever had the lease before may have done what we came for, or removed the grant.
    guard let grant = try await self.grant(), grant.record.id == seen.record.id else { return nil }
    if makesItself, grant.record.condition != .usable { return try await first(for: target, replacing: grant) }
    let binding = try binding(of: grant)
    if let stored = try await stored(target, of: grant, need, binding) { return stored }
    return try await refresh(grant, target, binding)
  }

  private var makesItself: Bool { if case .password = profile.origin { true } else { false } }

  private func binding(of grant: StoredGrant) throws(FetchFailure) -> TokenBinding {
    try GrantRules(registration: profile.registration).binding(
      of: grant, wallUnixSeconds: Moment(environment.time).wallUnixSeconds)
  }

  /// Finds out what became of a refresh whose end nobody noted, while the server may still take the old token.
  func recover(_ intent: RefreshIntent) async throws(FetchFailure) {
    await turn.enter()
    defer { turn.leave() }
    let lease = try await lease(intent.grant)
    defer { lease.release() }
    // Whoever had the lease may have been in the middle of that refresh, and is through with it now.
    guard try await world.store.failing({ (store) throws(StoreError) in try store.intents() }).contains(intent),
      let grant = try await grant(), grant.record.id == intent.grant
    else { return }
    _ = try await refresh(grant, profile.target, try binding(of: grant))
  }

  /// The grant the name means now, opened, with its secrets masked from now on.
  private func grant() async throws(FetchFailure) -> StoredGrant? {
    if world.unlocking.isOver { try await world.store.failing { (store) throws(StoreError) in try store.lock() } }
    let (name, store) = (name, world.store)
    guard let grant = try await store.failing({ (store) throws(StoreError) in try store.grant(meant: name) }) else {
      return nil
    }
    try hold(grant)
    if let nonce = grant.secrets.authorizationServerNonce?.withUnsafeBytes({ NonceValue($0) }) {
      for origin in grant.record.origins.compactMap({ try? Origin(parsing: $0) }) {
        nonces.authorizationServer(origin).seed(nonce)
      }
    }
    return grant
  }

  func hold(_ grant: StoredGrant) throws(FetchFailure) {
    do throws(UnmaskableSecret) {
      try world.held.hold(grant.record.id, grant.secrets)
    } catch {
      throw FetchFailure(
        kind: .refused, code: error.code, detail: "a secret of the grant: \(error.detail)", next: error.next,
        isOfSetUp: true)
    }
  }

  /// The stored token, if it is good enough.
  private func stored(
    _ target: TokenTargetKey, of grant: StoredGrant, _ need: FetchNeed, _ binding: TokenBinding
  ) async throws(FetchFailure) -> FetchedToken? {
    let id = grant.record.id
    let found = try await world.store.failing { (store) throws(StoreError) in
      try store.token(of: id, target: target.text)
    }
    let now = Moment(environment.time)
    guard let found, found.accessToken != need.current, let received = found.received(at: now, bootID: world.bootID)
    else { return nil }
    let fetched = fetched(found, received: received, of: grant.record, binding)
    guard now.elapsedNanoseconds(since: received) < fetched.lifetime.refreshAfterNanoseconds else { return nil }
    return fetched
  }

  /// A token as requests carry it; it does not outlive the session.
  func fetched(
    _ token: StoredToken, received: Moment, of record: GrantRecord, _ binding: TokenBinding
  ) -> FetchedToken {
    var lifetime = token.expiresInSeconds
    if let end = record.sessionExpiresAtUnixSeconds {
      let left = max(0, end - GrantRules.sessionMarginSeconds - received.wallUnixSeconds)
      lifetime = min(lifetime ?? left, left)
    }
    return FetchedToken(
      secret: token.accessToken,
      placement: .field(name: "Authorization", value: Secret("\(token.scheme) ", token.accessToken)),
      proofKey: token.scheme == TokenType.dpop.scheme ? binding.proofKey : nil,
      lifetime: .issued(expiresInSeconds: lifetime), expiresInSeconds: lifetime, received: received)
  }

  /// The right to refresh, waited for as long as somebody else's refresh may take.
  func lease(_ id: GrantID) async throws(FetchFailure) -> any GrantLease {
    let deadline = environment.time.bootNanoseconds + Self.leaseWait.nanoseconds
    var pause = Self.leaseLook.lowerBound
    let rest = environment.sleep
    while true {
      if let lease = try await world.store.failing({ (store) throws(StoreError) in try store.lease(id) }) {
        return lease
      }
      guard environment.time.bootNanoseconds < deadline else {
        throw FetchFailure(
          kind: .unavailable, code: "refreshed_elsewhere",
          detail: "another process has been refreshing \(name) for \(Self.leaseWait.components.seconds) s")
      }
      await rest(pause)
      pause = min(pause * 2, Self.leaseLook.upperBound)
    }
  }
}

extension SharedStore {
  /// As ``run(_:)``, with failures as a fetch has them.
  func failing<R: Sendable>(
    _ body: @escaping @Sendable (any CredentialStore) throws(StoreError) -> R
  ) async throws(FetchFailure) -> R {
    do throws(StoreError) {
      return try await run(body)
    } catch {
      throw FetchFailure(error)
    }
  }
}

extension CredentialStore {
  /// The grant a name means now, opened; nil if there is none.
  func grant(meant name: AccountName) throws(StoreError) -> StoredGrant? {
    guard let record = try records().first(where: { $0.isMeant(by: name) }) else { return nil }
    return try grant(record.id)
  }
}
