import EventLoop

/// How the accounts are, from memory: nothing here asks the store.
extension AccountBook {
  /// Every account of the store, every profile that needs one and has none, and the credentials that need none, in the
  /// order of the configuration; accounts of profiles that are no longer configured come last.
  package func statuses() -> [AccountStatus] {
    let (names, records, others) = state.withLock { ($0.names, $0.records, $0.others) }
    let configured = names.flatMap { name in
      if let other = others[name] { return statuses(other) }
      let own = records.filter { $0.profile == name }
      return own.isEmpty ? [missing(name)] : own.map(status)
    }
    return configured + records.filter { !names.contains($0.profile) }.map(status)
  }

  func status(_ record: GrantRecord) -> AccountStatus {
    let (profile, isLocked, accounts, storeFailure) = state.withLock {
      ($0.profiles[record.profile], $0.isLocked, Array($0.accounts.values), $0.storeFailure)
    }
    let now = Moment(environment.time)
    let sources = accounts.filter { record.isMeant(by: $0.name) }.flatMap(\.all)
    var status = AccountStatus(
      name: record.name, kind: profile?.login.kind.rawValue ?? "none", state: .idle, canServe: true,
      next: "Nothing to do.")
    status.isDefault = record.isDefault
    status.tags = record.tags
    status.grant = record.id
    status.issuer = record.issuer
    status.clientID = record.clientID
    status.scope = record.scope
    status.proofKeyThumbprint = record.proofKeyThumbprint
    status.createdAtUnixSeconds = record.createdAtUnixSeconds
    status.lastRefreshAtUnixSeconds = record.lastRefreshAtUnixSeconds
    status.sessionExpiresAtUnixSeconds = record.sessionExpiresAtUnixSeconds
    status.take(sources.map { ($0.target, $0.source.status()) })
    if let storeFailure {
      status.take(FetchFailure(storeFailure))
    } else if status.state != .storeFailed,
      let failure = refusal(record, isLocked: isLocked, hasProfile: profile != nil, at: now)
    {
      status.take(failure)
    }
    return status
  }

  /// Why the account can't serve, as far as its record says.
  private func refusal(_ record: GrantRecord, isLocked: Bool, hasProfile: Bool, at now: Moment) -> FetchFailure? {
    if !hasProfile {
      return FetchFailure(
        kind: .refused, code: "no_profile", detail: "the configuration has no profile \(record.profile)",
        next: "Configure it, or remove the account")
    }
    if isLocked { return FetchFailure(StoreError.locked) }
    switch record.condition {
    case .refused where profile(record.profile)?.login.kind == .password: return nil  // the password brings another
    case .refused: return .refused(record.name)
    case .rotationInterrupted: return .rotationInterrupted(record.name)
    case .usable: break
    }
    if let end = record.sessionExpiresAtUnixSeconds, now.wallUnixSeconds + GrantRules.sessionMarginSeconds >= end {
      return .sessionExpired(record.name)
    }
    return profile(record.profile).flatMap { GrantRules(registration: $0.login.registration).mismatch(record) }
  }

  private func missing(_ profile: String) -> AccountStatus {
    let (found, failure) = state.withLock { ($0.profiles[profile], $0.storeFailure) }
    let name = AccountName(profile: profile)
    var status = AccountStatus(
      name: name, kind: found?.login.kind.rawValue ?? "none", state: .loginRequired, canServe: false, next: "")
    status.issuer = found?.login.registration.server.issuer
    status.clientID = found?.login.registration.clientID
    let sources = state.withLock { $0.accounts.values.filter { $0.name.profile == profile } }.flatMap(\.all)
    if let failure {
      status.take(FetchFailure(failure))
    } else if case .password = found?.login.origin, !sources.isEmpty {
      status.take(sources.map { ($0.target, $0.source.status()) })
    } else {
      status.take(.noAccount(name))
    }
    return status
  }

  private func statuses(_ other: Other) -> [AccountStatus] {
    let sources = state.withLock { $0.sources[other.name] ?? [:] }.sorted { $0.key.text < $1.key.text }
    var status = AccountStatus(
      name: AccountName(profile: other.name), kind: other.kind, state: .idle, canServe: true, next: "Nothing to do.")
    status.take(sources.map { ($0.key, $0.value.status()) })
    return [status]
  }
}

extension AccountStatus {
  /// Takes over what the sources of the account's tokens say: the worst of them speaks for the account.
  mutating func take(_ sources: [(target: TokenTargetKey, status: TokenSourceStatus)]) {
    var seen: Set<TokenTargetKey> = []
    targets = sources.filter { seen.insert($0.target).inserted }.map { target, status in
      Target(
        audience: target.audience, resource: target.resources, scope: target.scope, state: status.state,
        expiresAtUnixSeconds: status.expiresAtUnixSeconds)
    }
    let worst =
      sources.first { !$0.status.canServe && $0.status.state != .idle } ?? sources.first { $0.status.state != .ready }
      ?? sources.first
    guard let worst = worst?.status else { return }
    state = worst.state
    canServe = sources.allSatisfy { $0.status.canServe || $0.status.state == .idle }
    next = worst.next
    lastFailure = worst.lastFailure
    lastRefreshAtUnixSeconds = sources.compactMap(\.status.lastRefreshAtUnixSeconds).max() ?? lastRefreshAtUnixSeconds
    for warning in sources.flatMap(\.status.warnings) where !warnings.contains(warning) { warnings.append(warning) }
  }

  /// The account can't get another token, whatever it still holds.
  mutating func take(_ failure: FetchFailure) {
    switch failure.kind {
    case .person(let state): self.state = state
    case .refused: state = .refused
    case .unavailable: state = .unavailable
    }
    canServe = targets.contains { $0.state == .ready || $0.state == .expiring } && state != .locked
    next = "\(failure.next ?? "See proofd credentials show")."
    detail = failure.detail
  }
}
