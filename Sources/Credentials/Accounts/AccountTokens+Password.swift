import Cryptography
import HTTPWire
import OAuth

/// The grants a profile makes by itself, with a name and a password. RFC 6749 §4.3
extension AccountTokens {
  /// A token where there is no grant to refresh.
  ///
  /// - Parameter old: a grant that brings nothing any more; its lease is ours.
  /// - Returns: nil if another process made one meanwhile.
  func first(
    for target: TokenTargetKey, replacing old: StoredGrant? = nil
  ) async throws(FetchFailure) -> FetchedToken? {
    guard case .password(let username, _) = profile.origin, let password else { throw try await missing() }
    let lease = old == nil ? try await lease(Self.place(of: name)) : nil
    defer { lease?.release() }
    // Another process may have been quicker.
    let isThere = try await world.store.failing { [name] (store) throws(StoreError) in
      try store.grant(meant: name)?.record.id
    }
    guard isThere == old?.record.id else { return nil }
    let endpoint = try await client.tokenEndpoint()
    let binding = client.binding
    if binding.proofKey != nil { try client.checkProofAlgorithm(endpoint) }
    let grant = ResourceOwnerPasswordGrant(
      username: username, password: try await password.read(), target: target.grantTarget)
    let answer = try await send(
      grant, target: target, to: endpoint, try await client.authentication(), binding, secrets: grant.secrets)
    world.step(.answered)
    return try await found(
      Received(answer, target: target, from: endpoint.url.origin, at: Moment(environment.time)), binding, old)
  }

  /// Stores a grant that just came about.
  private func found(
    _ received: Received, _ binding: TokenBinding, _ old: StoredGrant?
  ) async throws(FetchFailure) -> FetchedToken {
    var grant = StoredGrant(
      record: GrantRecord(
        id: .random(), profile: profile.name, account: name.account ?? "", issuer: profile.registration.server.issuer,
        clientID: profile.registration.clientID,
        origins: [], proofKeyThumbprint: binding.proofKey?.thumbprint,
        createdAtUnixSeconds: received.moment.wallUnixSeconds),
      secrets: GrantSecrets(refreshToken: nil))
    if let key = binding.proofKey {
      guard let der = try? key.exportPrivate() else {  // whatever OpenSSL's reason, there is nothing to be done
        throw FetchFailure(kind: .unavailable, code: "key_not_exported", detail: "the proof key can't be stored")
      }
      grant.secrets.proofKey = der
    }
    grant.take(received, nonce: nonces.authorizationServer(received.origin).current)
    grant.record.rotation = 0
    try hold(grant)
    let (new, token, replaced) = (grant, received.storedToken(bootID: world.bootID), old?.record.id)
    try await world.store.failing { (store) throws(StoreError) in
      try store.insert(new, tokens: token.map { [$0] } ?? [], replacing: replaced)
    }
    world.step(.stored)
    let response = try received.answer.token.get()
    guard let token else { preconditionFailure("a token that came is \(response.tokenType)") }
    return fetched(token, received: received.moment, of: grant.record, binding)
  }

  /// Why there is no grant.
  private func missing() async throws(FetchFailure) -> FetchFailure {
    let profile = profile.name
    let hasOthers = try await world.store.failing { (store) throws(StoreError) in
      try store.records().contains { $0.profile == profile }
    }
    return hasOthers && name.account == nil ? .noDefault(name) : .noAccount(name)
  }

  /// What is leased while there is no grant yet.
  private static func place(of name: AccountName) -> GrantID { GrantID("new-\(name.profile)-\(name.account ?? "")") }
}
