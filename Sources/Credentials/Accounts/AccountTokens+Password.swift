import Cryptography
import HTTPWire
import OAuth

/// The grants a profile makes by itself, with a name and a password. RFC 6749 §4.3
extension AccountTokens {
  /// A token where there is no grant to refresh.
  ///
  /// - Returns: nil if another process made one meanwhile.
  func first(for target: TokenTargetKey) async throws(FetchFailure) -> FetchedToken? {
    guard case .password = profile.origin else { throw try await missing() }
    let lease = try await lease(Self.place(of: name))
    defer { lease.release() }
    let isThere = try await world.store.failing { [name] (store) throws(StoreError) in
      try store.records().contains { $0.isMeant(by: name) }
    }
    guard !isThere else { return nil }
    let binding = client.binding
    let received = try await passwordAnswer(for: target, binding)
    var grant = StoredGrant(
      record: GrantRecord(
        id: .random(), profile: profile.name, account: name.account ?? "", issuer: profile.registration.server.issuer,
        clientID: profile.registration.clientID, origins: [], proofKeyThumbprint: binding.proofKey?.thumbprint,
        createdAtUnixSeconds: received.moment.wallUnixSeconds),
      secrets: GrantSecrets(refreshToken: nil, proofKey: try exported(binding.proofKey)))
    grant.take(received, nonce: nonces.authorizationServer(received.origin).current)
    grant.record.rotation = 0
    let (new, token) = (grant, received.storedToken(bootID: world.bootID))
    try await world.store.failing { (store) throws(StoreError) in
      try store.insert(new, tokens: token.map { [$0] } ?? [], replacing: nil)
    }
    world.step(.stored)
    try checkIsMasked(grant)
    _ = try received.answer.token.get()
    return token.map { fetched($0, received: received.moment, of: grant.record, binding) }
  }

  /// The grant brings nothing any more; the password brings it back to life. Turn and lease are ours.
  func renewed(
    _ grant: StoredGrant, for target: TokenTargetKey, in session: GrantSession, _ lease: any GrantLease
  ) async throws(FetchFailure) -> FetchedToken {
    var usable = grant
    usable.record.condition = .usable
    let binding = try binding(of: usable)
    return try await keep(try await passwordAnswer(for: target, binding), in: session, binding, lease)
  }

  private func passwordAnswer(
    for target: TokenTargetKey, _ binding: TokenBinding
  ) async throws(FetchFailure) -> Received {
    guard case .password(let username, _) = profile.origin, let password else {
      preconditionFailure("only a profile with a password logs in by itself")
    }
    let endpoint = try await client.tokenEndpoint()
    if binding.proofKey != nil { try client.checkProofAlgorithm(endpoint) }
    let grant = ResourceOwnerPasswordGrant(
      username: username, password: try await password.read(), target: target.grantTarget)
    let answer = try await send(
      grant, target: target, to: endpoint, try await client.authentication(), binding, secrets: grant.secrets)
    world.step(.answered)
    return Received(answer, target: target, from: endpoint.url.origin, at: Moment(environment.time))
  }

  private func exported(_ key: ProofKey?) throws(FetchFailure) -> Secret? {
    do throws(CryptographyError) {
      return try key?.exportPrivate()
    } catch {
      throw FetchFailure(
        kind: .unavailable, code: "key_not_exported", detail: "the proof key can't be stored: \(error)")
    }
  }

  /// Why there is no grant.
  func missing() async throws(FetchFailure) -> FetchFailure {
    let profile = profile.name
    let hasOthers = try await world.store.failing { (store) throws(StoreError) in
      try store.records().contains { $0.profile == profile }
    }
    return hasOthers && name.account == nil ? .noDefault(name) : .noAccount(name)
  }

  /// What is leased while there is no grant yet.
  private static func place(of name: AccountName) -> GrantID {
    GrantID("new-" + Base64URL.encode(SHA256.hash(Array("\(name)".utf8))))
  }
}
