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
    let account = try await account(of: name, replace)
    let grant = try grant(imported, profile.login, account: account.name)
    try await whileOpen { () throws(AccountFailure) in
      guard let old = account.old else { return try await self.store(grant, isOffline: isOffline) }
      try await self.replace(old, with: grant, isOffline: isOffline)
    }
    return status(try await record(AccountName(profile: name.profile, account: account.name)))
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
    await look()
    guard !isOffline else { return }
    do throws(AccountFailure) {
      try await prove(grant.record)
    } catch {
      if error.isRefusalOfGrant {
        try await storing { (store) throws(StoreError) in _ = try store.remove(grant.record.id) }
        await look()
      }
      throw error
    }
  }

  /// The new grant is proved beside the old one, whose refreshes rest meanwhile, and takes its place only then.
  private func replace(_ old: GrantRecord, with grant: StoredGrant, isOffline: Bool) async throws(AccountFailure) {
    guard let owner = self.account(named: old.name) else { return }
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
    if isOffline {
      try hold(grant)
      try await storing { (store) throws(StoreError) in try store.insert(grant, tokens: [], replacing: old.id) }
      return await look()
    }
    let aside = grant.named("~\(grant.record.id)")
    try await store(aside, isOffline: false)
    try await storing { (store) throws(StoreError) in
      guard let proved = try store.grant(aside.record.id) else { throw .conflict }
      let tokens = try store.tokens(of: aside.record.id)
      var final = proved.named(old.account, as: .random())
      final.record.isDefault = old.isDefault
      try store.insert(final, tokens: tokens, replacing: old.id)
      _ = try store.remove(aside.record.id)
    }
    await look()
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

  /// A refresh shows that the grant is good. One that could not be tried now may be.
  private func prove(_ record: GrantRecord) async throws(AccountFailure) {
    let name = AccountName(profile: record.profile, account: record.account)
    guard let account = self.account(named: name) else { return }
    do throws(FetchFailure) {
      _ = try await account.tokens.token(for: account.tokens.profile.target, replacing: nil)
    } catch {
      await look()
      switch error.kind {
      case .unavailable: return
      case .person:
        throw AccountFailure(
          .refused, code: error.code, detail: "the grant was tried and not stored: \(error.detail)",
          next: "Compare it with what the issuer gave.")
      case .refused:
        throw AccountFailure(
          .refused, code: error.code, detail: "the grant is stored and does not serve: \(error.detail)",
          next: "\(error.next ?? "See proofd credentials show").")
      }
    }
    await look()
  }
}

extension AccountFailure {
  fileprivate var isRefusalOfGrant: Bool { AccountStatus.State(rawValue: code) != nil }

  static let tagInvalid = AccountFailure(
    .invalid, code: "tag_invalid", detail: "a tag has 1 to 64 letters, digits and -_.:@", next: "Choose another tag.")
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
