import Cryptography
import EventLoop
import HTTPWire
import OAuth

/// Brings the tokens of one account: from the store, or by a refresh that loses nothing. Any task.
///
/// One refresh at a time for a grant, in this process by its session's turn and across processes by the store's lease;
/// other grants are not held up. What was received is durable before it is given out.
final class AccountTokens: Sendable {
  /// As routes name it: without an account it is whichever is the default.
  let name: AccountName
  let profile: LoginProfile
  let client: OAuthClient
  let nonces = NonceCells()
  let world: AccountWorld
  /// What a profile that logs in by itself does it with.
  let password: HeldSecretReader?

  /// How long another process may keep the lease before we say so.
  static let leaseWait = Duration.seconds(30)
  private static let leaseLook = Duration.milliseconds(5)...Duration.milliseconds(200)
  /// How often a grant may turn into another one under our hands.
  private static let looksMax = 4

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
  private var now: Moment { Moment(environment.time) }

  /// A token for `target` other than `current`.
  func token(for target: TokenTargetKey, replacing current: Secret?) async throws(FetchFailure) -> FetchedToken {
    for _ in 0..<Self.looksMax {
      try world.checkIsRunning()
      if let fetched = try await look(for: target, replacing: current) { return fetched }
    }
    throw .conflict(name)
  }

  /// One look at the account, and what follows from it; nil if it became another one under our hands.
  private func look(
    for target: TokenTargetKey, replacing current: Secret?
  ) async throws(FetchFailure) -> FetchedToken? {
    guard let seen = try await grant() else { return try await first(for: target) }
    let session = world.sessions.session(of: seen.record.id)
    await session.turn.enter()
    defer { session.turn.leave() }
    try world.checkIsRunning()  // whoever stops waits for turns that were taken before
    try await storeWhatIsPending(of: session)
    if let stored = try await stored(target, of: try await grant(seen.record.id), replacing: current) { return stored }
    if let failure = session.pause(at: now) { throw failure }
    let lease = try await lease(seen.record.id)
    defer { if session.pending == nil { lease.release() } }
    world.step(.leased)
    // Whoever had the lease before may have done what we came for, or removed the grant.
    guard let grant = try await grant(seen.record.id) else { return nil }
    if let stored = try await stored(target, of: grant, replacing: current) { return stored }
    if makesItself, grant.record.condition != .usable {
      return try await renewed(grant, for: target, in: session, lease)
    }
    return try await refresh(grant, for: target, in: session, lease)
  }

  /// Finds out what became of a refresh whose end nobody noted, while the server may still take the old token.
  ///
  /// - Returns: whether there is nothing more to find out.
  func recover(_ intent: RefreshIntent) async throws(FetchFailure) -> Bool {
    let session = world.sessions.session(of: intent.grant)
    await session.turn.enter()
    defer { session.turn.leave() }
    try world.checkIsRunning()
    try await storeWhatIsPending(of: session)
    let lease = try await lease(intent.grant)
    defer { if session.pending == nil { lease.release() } }
    world.step(.leased)
    // Whoever had the lease may have been in the middle of that refresh, and is through with it now.
    let isOpen = try await world.store.failing { (store) throws(StoreError) in try store.intents() }.contains(intent)
    guard isOpen, let grant = try await grant(intent.grant) else { return true }
    _ = try await refresh(grant, for: profile.target, in: session, lease)
    return true
  }

  /// The grant the name means now, opened, with its secrets masked from now on.
  private func grant() async throws(FetchFailure) -> StoredGrant? {
    try world.checkMayOpen()
    let found = try await world.store.failing { [name] (store) throws(StoreError) in
      guard let record = try store.records().first(where: { $0.isMeant(by: name) }) else { return StoredGrant?.none }
      return try store.grant(record.id)
    }
    if let found { take(found) }
    return found
  }

  /// The grant if the name still means it.
  private func grant(_ id: GrantID) async throws(FetchFailure) -> StoredGrant? {
    guard let found = try await grant(), found.record.id == id else { return nil }
    return found
  }

  private func take(_ grant: StoredGrant) {
    // One that can't be masked is refused when it is to be used.
    try? world.held.hold(grant)
    guard let nonce = grant.secrets.authorizationServerNonce?.withUnsafeBytes({ NonceValue($0) }) else { return }
    for case let origin? in grant.record.origins.map({ try? Origin(parsing: $0) }) {  // those we wrote can be read
      nonces.authorizationServer(origin).seed(nonce)
    }
  }

  /// - Throws: if a secret of the grant can't be masked: then it must not be used.
  func checkIsMasked(_ grant: StoredGrant) throws(FetchFailure) {
    do throws(UnmaskableSecret) {
      try world.held.hold(grant)
    } catch {
      throw FetchFailure(
        kind: .refused, code: error.code, detail: "a secret of the grant: \(error.detail)", next: error.next,
        isOfSetUp: true)
    }
  }

  /// The account's tokens go only where its grant came from.
  func checkEndpoint() async throws(FetchFailure) {
    let endpoint = try await client.tokenEndpoint()
    guard let grant = try await grant() else { throw try await missing() }
    try GrantRules.check(endpoint.url, for: grant.record)
  }

  private var makesItself: Bool { if case .password = profile.origin { true } else { false } }

  func binding(of grant: StoredGrant) throws(FetchFailure) -> TokenBinding {
    try GrantRules(registration: profile.registration).binding(of: grant, wallUnixSeconds: now.wallUnixSeconds)
  }

  /// The stored token, if it is good enough. A grant that brings no other still serves with the one it brought.
  private func stored(
    _ target: TokenTargetKey, of grant: StoredGrant?, replacing current: Secret?
  ) async throws(FetchFailure) -> FetchedToken? {
    guard let grant, !makesItself || grant.record.condition == .usable else { return nil }
    let binding = try binding(of: grant)
    try checkIsMasked(grant)
    let id = grant.record.id
    let found = try await world.store.failing { (store) throws(StoreError) in
      try store.token(of: id, target: target.text)
    }
    let now = now
    guard let found, found.accessToken != current, let received = found.received(at: now, bootID: world.bootID)
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
      // What the issuer did not say stays unknown, which is never taken for long.
      if lifetime ?? TokenLifetime.unknownLifetime.components.seconds > left { lifetime = left }
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
