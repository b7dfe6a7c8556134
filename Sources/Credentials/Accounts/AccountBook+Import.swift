import Cryptography
import EventLoop
import HTTPWire
import OAuth

/// Grants that another program obtained.
extension AccountBook {
  package func importGrant(
    _ imported: ImportedGrant, as name: AccountName, replace: Bool, isOffline: Bool
  ) async throws(AccountFailure) -> AccountStatus {
    guard let profile = profile(name.profile) else {
      throw AccountFailure(
        .notFound, code: "profile_unknown",
        detail: "the configuration has no profile \(name.profile) that takes a grant",
        next: "Configure it with an issuer, or see proofd credentials list.")
    }
    for tag in imported.tags where !Self.isTag(tag) { throw .tagInvalid }
    let (account, old) = try await account(of: name, replace)
    var grant = try grant(imported, profile.login, account: account)
    if let old, grant.record.tags.isEmpty { grant.record.tags = old.tags }
    let new = grant
    do throws(AccountFailure) {
      try await whileOpen { () throws(AccountFailure) in
        try await self.checkIsNew(imported.refreshToken, in: profile.login.name)
        if let old {
          try await self.replace(old, with: new, isOffline: isOffline)
        } else {
          try await self.store(new, isOffline: isOffline)
        }
      }
    } catch {
      await look()
      throw error
    }
    await look()
    return status(try await record(AccountName(profile: name.profile, account: account)))
  }

  /// A token that was rotated away already would end the login it came from. RFC 9700 §4.14.2
  private func checkIsNew(_ refreshToken: Secret, in profile: String) async throws(AccountFailure) {
    let found: (name: AccountName, isSpent: Bool)? = try await storing { (store) throws(StoreError) in
      for record in try store.records() where record.profile == profile {
        // One that does not open is no obstacle.
        guard let known = try? store.grant(record.id)?.secrets else { continue }
        if known.previousRefreshToken == refreshToken { return (record.name, true) }
        if known.refreshToken == refreshToken, record.condition == .usable { return (record.name, false) }
      }
      return nil
    }
    guard let (name, isSpent) = found else { return }
    throw AccountFailure(
      .conflict, code: isSpent ? "refresh_token_spent" : "refresh_token_known",
      detail: isSpent
        ? "\(name) has used this refresh token already, and has another one since"
        : "\(name) has this refresh token already",
      next: "Nothing to do: \(name) is in the store.")
  }

  /// The name the grant gets, and the record that goes.
  ///
  /// Without an account the default is meant if it is to be replaced, and the one without a name is made otherwise.
  private func account(
    of name: AccountName, _ replace: Bool
  ) async throws(AccountFailure) -> (name: String, old: GrantRecord?) {
    let records = try await storing { (store) throws(StoreError) in try store.records() }
    let named = AccountName(profile: name.profile, account: name.account ?? "")
    let old =
      records.first { $0.isMeant(by: named) }
      ?? (replace && name.account == nil ? records.first { $0.isMeant(by: name) } : nil)
    guard old == nil || replace else { throw AccountFailure(StoreError.nameTaken) }
    return (old?.account ?? name.account ?? "", old)
  }

  private func store(_ grant: StoredGrant, isOffline: Bool) async throws(AccountFailure) {
    try hold(grant)
    try await storing { (store) throws(StoreError) in try store.insert(grant, tokens: [], replacing: nil) }
    guard !isOffline, let failure = await proof(of: grant.record) else { return }
    if failure.isRefusalOfGrant {
      try await storing { (store) throws(StoreError) in _ = try store.remove(grant.record.id) }
      throw .notStored(failure)
    }
    throw .unproved(grant.record.name, failure)
  }

  /// The new grant is proved beside the old one, whose refreshes rest meanwhile, and takes its place only then.
  private func replace(_ old: GrantRecord, with grant: StoredGrant, isOffline: Bool) async throws(AccountFailure) {
    guard let owner = self.account(named: old.name) else { preconditionFailure("the profile was found before") }
    let session = world.sessions.session(of: old.id)
    await session.turn.enter()
    defer { session.turn.leave() }
    let lease: any GrantLease
    do throws(FetchFailure) {
      try await owner.tokens.storeWhatIsPending(of: session)
      lease = try await owner.tokens.lease(old.id)
    } catch {
      throw AccountFailure(.unavailable, code: error.code, detail: error.detail, next: "Try again.")
    }
    defer { lease.release() }
    try hold(grant)
    if isOffline {
      return try await storing { (store) throws(StoreError) in
        try store.insert(grant, tokens: [], replacing: old.id)
      }
    }
    let aside = grant.named("import-\(grant.record.id.text.prefix(8))")
    try await storing { (store) throws(StoreError) in try store.insert(aside, tokens: [], replacing: nil) }
    if let failure = await proof(of: aside.record) {
      // What the server may have taken is not thrown away.
      let isKept = failure.effect == .unknown || failure.kind != .unavailable && !failure.isRefusalOfGrant
      if isKept { throw .keptAside(aside.record.name, old.name, failure) }
      try await storing { (store) throws(StoreError) in _ = try store.remove(aside.record.id) }
      throw .notStored(failure)
    }
    try await storing { (store) throws(StoreError) in
      guard let proved = try store.grant(aside.record.id) else { throw .conflict }
      let tokens = try store.tokens(of: aside.record.id)
      try store.insert(proved.named(old.account, as: .random()), tokens: tokens, replacing: old.id)
      _ = try store.remove(aside.record.id)
    }
  }

  private func grant(
    _ imported: ImportedGrant, _ profile: LoginProfile, account: String
  ) throws(AccountFailure) -> StoredGrant {
    let registration = profile.registration
    guard imported.clientID ?? registration.clientID == registration.clientID else {
      throw AccountFailure(
        .invalid, code: "another_client", detail: "the grant was given to another client_id than the profile has",
        next: "Correct client_id in the configuration, or import into another profile.")
    }
    if let stated = imported.issuer, let own = registration.server.issuer,
      stated.trimmingSlash != own.trimmingSlash
    {
      throw AccountFailure(
        .invalid, code: "another_issuer", detail: "the grant is of another issuer than the profile has",
        next: "Correct issuer in the configuration, or import into another profile.")
    }
    let claims = imported.idToken.flatMap { try? IDTokenClaims(parsing: $0) }  // one that can't be read says nothing
    var record = GrantRecord(
      id: .random(), profile: profile.name, account: account,
      tags: imported.tags, issuer: registration.server.issuer, clientID: registration.clientID,
      origins: [], scope: imported.scope,
      createdAtUnixSeconds: Moment(environment.time).wallUnixSeconds,
      sessionExpiresAtUnixSeconds: claims?.sessionExpiresAtUnixSeconds)
    var secrets = GrantSecrets(refreshToken: imported.refreshToken, idToken: imported.idToken)
    if case .dpop = registration.binding {
      let key = try key(imported.proofKey)
      record.proofKeyThumbprint = key.thumbprint
      do throws(CryptographyError) {
        secrets.proofKey = try key.exportPrivate()
      } catch {
        throw AccountFailure(.storage, code: "key_not_exported", detail: "\(error)", next: "Try again.")
      }
    } else if imported.proofKey != nil {
      throw AccountFailure(
        .invalid, code: "dpop_not_configured", detail: "the grant has a key and the profile lacks dpop: true",
        next: "Set dpop: true in the configuration.")
    }
    return StoredGrant(record: record, secrets: secrets)
  }

  /// The key the grant is bound to; a new one for a grant that is not, as those of confidential clients are. RFC 9449 §5
  private func key(_ text: Secret?) throws(AccountFailure) -> ProofKey {
    guard let text else { return .generate() }
    do throws(CryptographyError) {
      return try ProofKey(text: text)
    } catch {
      throw AccountFailure(
        .invalid, code: "proof_key_malformed", detail: "the proof key can't be read: \(error)",
        next: "Give a P-256 key as PEM (PKCS #8, not encrypted) or as a private JWK.")
    }
  }

  private func hold(_ grant: StoredGrant) throws(AccountFailure) {
    do throws(UnmaskableSecret) {
      try world.held.hold(grant)
    } catch {
      throw AccountFailure(
        .invalid, code: error.code, detail: "a secret of the grant: \(error.detail)", next: "\(error.next).")
    }
  }

  /// A refresh shows that the grant is good; nil if it is.
  private func proof(of record: GrantRecord) async -> FetchFailure? {
    let name = AccountName(profile: record.profile, account: record.account)
    guard let account = self.account(named: name) else { return nil }
    do throws(FetchFailure) {
      _ = try await account.tokens.token(for: account.tokens.profile.target, replacing: nil)
      return nil
    } catch {
      var failure = error
      if world.sessions.session(of: record.id).pending != nil { failure.effect = .unknown }
      return failure
    }
  }
}

extension FetchFailure {
  /// The server has said that it does not take the grant.
  fileprivate var isRefusalOfGrant: Bool {
    kind == .person(.loginRequired) || kind == .person(.rotationInterrupted)
  }
}

extension AccountFailure {
  static let tagInvalid = AccountFailure(
    .invalid, code: "tag_invalid", detail: "a tag has 1 to 64 letters, digits and -_.:@", next: "Choose another tag.")

  fileprivate static func notStored(_ failure: FetchFailure) -> AccountFailure {
    AccountFailure(
      failure.kind == .unavailable ? .unavailable : .refused, code: failure.code,
      detail: "the grant was tried and not stored: \(failure.detail)",
      next: failure.kind == .unavailable
        ? "Try again, or store it untried with --offline." : "Compare it with what the issuer gave.")
  }

  fileprivate static func unproved(_ name: AccountName, _ failure: FetchFailure) -> AccountFailure {
    AccountFailure(
      kind(of: failure), code: failure.code, detail: "the grant is stored and could not be proved: \(failure.detail)",
      next: "It is tried again with the first request; see proofd credentials show \(name).")
  }

  fileprivate static func keptAside(
    _ aside: AccountName, _ old: AccountName, _ failure: FetchFailure
  ) -> AccountFailure {
    AccountFailure(
      kind(of: failure), code: failure.code,
      detail: "\(old) is as it was; the new grant could not be proved and is kept as \(aside): \(failure.detail)",
      next: "Try it with proofd credentials show \(aside), and remove one of the two.")
  }

  private static func kind(of failure: FetchFailure) -> Kind {
    switch failure.kind {
    case .unavailable: .unavailable
    case .refused: .refused
    case .person(.locked): .locked
    case .person: .storage
    }
  }
}

extension StoredGrant {
  /// The same grant under another account's name.
  fileprivate func named(_ account: String, as id: GrantID? = nil) -> StoredGrant {
    let old = record
    var new = GrantRecord(
      id: id ?? old.id, profile: old.profile, account: account, issuer: old.issuer, clientID: old.clientID,
      origins: old.origins, createdAtUnixSeconds: old.createdAtUnixSeconds)
    new.rotation = old.rotation
    new.tags = old.tags
    new.scope = old.scope
    new.proofKeyThumbprint = old.proofKeyThumbprint
    new.lastRefreshAtUnixSeconds = old.lastRefreshAtUnixSeconds
    new.sessionExpiresAtUnixSeconds = old.sessionExpiresAtUnixSeconds
    return StoredGrant(record: new, secrets: secrets)
  }
}

extension String {
  /// Some programs write an issuer with a slash at its end, and some without.
  fileprivate var trimmingSlash: Substring { hasSuffix("/") ? dropLast() : self[...] }
}
