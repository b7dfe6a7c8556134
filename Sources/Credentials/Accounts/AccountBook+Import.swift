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
    try await mayOpen()
    let old = try await replaced(name, replace)
    let grant = try grant(imported, profile.login, name, account: old?.record.account)
    try hold(grant)
    try await storing { (store) throws(StoreError) in try store.insert(grant, tokens: [], replacing: old?.record.id) }
    await look()
    if !isOffline { try await prove(grant, replacing: old) }
    await closeAfterUse()
    return status(try await record(grant.record.name))
  }

  /// The grant of this name that goes, opened, so that it can come back.
  private func replaced(_ name: AccountName, _ replace: Bool) async throws(AccountFailure) -> StoredGrant? {
    try await storing { (store) throws(StoreError) in
      // Without an account the default is meant if there is one, and the unnamed one is made if there is none.
      let records = try store.records()
      let named = AccountName(profile: name.profile, account: name.account ?? "")
      let record =
        records.first { $0.isMeant(by: named) }
        ?? (replace && name.account == nil ? records.first { $0.isMeant(by: name) } : nil)
      guard let record else { return nil }
      guard replace else { throw .nameTaken }
      return try store.grant(record.id)
    }
  }

  private func grant(
    _ imported: ImportedGrant, _ profile: LoginProfile, _ name: AccountName, account: String?
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
      id: .random(), profile: profile.name, account: account ?? name.account ?? "",
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
      try world.held.hold(grant.record.id, grant.secrets)
    } catch {
      throw AccountFailure(
        .invalid, code: error.code, detail: "a secret of the grant: \(error.detail)", next: "\(error.next).")
    }
  }

  /// A refresh shows that the grant is good. One that the server refuses is not kept; one that could not be tried is.
  private func prove(_ grant: StoredGrant, replacing old: StoredGrant?) async throws(AccountFailure) {
    guard let account = account(named: grant.record.name) else { return }
    do throws(FetchFailure) {
      _ = try await account.tokens.token(for: account.tokens.profile.target, FetchNeed())
    } catch {
      guard error.effect.isRefusalOfGrant || error.kind != .unavailable else { return await look() }
      let id = grant.record.id
      try await storing { (store) throws(StoreError) in
        if let old { try store.insert(old, tokens: [], replacing: id) } else { _ = try store.remove(id) }
      }
      await look()
      throw AccountFailure(
        .refused, code: error.code, detail: "the grant was tried and not stored: \(error.detail)",
        next: "\(error.next ?? "Compare it with what the issuer gave").")
    }
    await look()
  }
}

extension String {
  /// Some programs write an issuer with a slash at its end, and some without.
  fileprivate var trimmingSlash: Substring { hasSuffix("/") ? dropLast() : self[...] }
}
