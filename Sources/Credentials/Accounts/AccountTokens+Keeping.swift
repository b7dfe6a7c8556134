import Cryptography
import HTTPWire
import OAuth

/// What came for a grant, from whom, and when.
struct Received: Sendable {
  let answer: RefreshAnswer
  let target: TokenTargetKey
  let origin: Origin
  let moment: Moment

  init(_ answer: RefreshAnswer, target: TokenTargetKey, from origin: Origin, at moment: Moment) {
    self.answer = answer
    self.target = target
    self.origin = origin
    self.moment = moment
  }
}

/// Makes an answer durable before anybody has it.
extension AccountTokens {
  private static let conflictsMax = 16

  /// Stores what came, and gives it out. What can't be stored now stays pending, and the lease with it.
  func keep(
    _ received: Received, in session: GrantSession, _ binding: TokenBinding, _ lease: any GrantLease
  ) async throws(FetchFailure) -> FetchedToken {
    let pending = GrantSession.Pending(received: received, binding: binding, lease: lease, name: name)
    session.set(pending)
    let fetched = try await store(pending, session.id)
    session.set(nil)
    world.step(.released)
    return try fetched.get()
  }

  /// What came before is stored before anything else is done with the grant. The turn is ours.
  ///
  /// - Throws: if the store can't take it now either.
  func storeWhatIsPending(of session: GrantSession) async throws(FetchFailure) {
    guard let pending = session.pending else { return }
    _ = try await store(pending, session.id)  // whoever wants the token finds it in the store
    session.set(nil)
    pending.lease.release()
  }

  /// - Throws: if the store can't take it now.
  private func store(
    _ pending: GrantSession.Pending, _ id: GrantID
  ) async throws(FetchFailure) -> Result<FetchedToken, FetchFailure> {
    let received = pending.received
    let nonce = nonces.authorizationServer(received.origin).current
    let token = received.storedToken(bootID: world.bootID)
    for _ in 0..<Self.conflictsMax {
      guard var grant = try await world.store.failing({ (store) throws(StoreError) in try store.grant(id) }) else {
        // It was removed meanwhile, and that stands: what came is not kept. Let the server know, if it will listen.
        await revoke(received, pending.binding)
        return .failure(.noAccount(name))
      }
      grant.take(received, nonce: nonce)
      // One that can't be masked is stored all the same, so that it is not lost, and then not used.
      let masked = Result { () throws(FetchFailure) in try checkIsMasked(grant) }
      let (new, step) = (grant, world.step)
      do throws(StoreError) {
        let stored = try await world.store.run { (store) throws(StoreError) in
          step(.storing)
          return try store.update(new, tokens: token.map { [$0] } ?? [], endingIntent: true)
        }
        world.step(.stored)
        return masked.flatMap { given(token, received, of: stored.record, pending.binding) }
      } catch {
        guard error == .conflict else { throw FetchFailure(error) }
        // A tag was set, say. The rotation is ours by the lease.
      }
    }
    throw .conflict(name)
  }

  private func given(
    _ token: StoredToken?, _ received: Received, of record: GrantRecord, _ binding: TokenBinding
  ) -> Result<FetchedToken, FetchFailure> {
    switch (received.answer.token, token) {
    case (.success, let token?): .success(fetched(token, received: received.moment, of: record, binding))
    case (.failure(let failure), _): .failure(failure)
    case (.success, nil): preconditionFailure("a token that came can be stored")
    }
  }

  /// Best effort: whoever removed the account did not want this token to exist. It goes where it came from, or nowhere.
  /// RFC 7009 §2.1
  private func revoke(_ received: Received, _ binding: TokenBinding) async {
    guard let token = received.answer.refreshToken, let endpoint = try? await client.tokenEndpoint(),
      let url = endpoint.metadata?.revocationEndpoint(
        mutualTLS: profile.registration.authentication.usesMutualTLS), url.origin == received.origin,
      let authentication = try? await client.authentication()
    else { return }  // nobody waits for the outcome, and there is nothing else to do
    let request = RevocationRequest(token: token, hint: .refreshToken)
    try? await client.caller(nonces: nonces, for: name).call(
      request.request(endpoint: url, authentication: authentication), binding: binding
    ) { _ throws(FetchFailure) in }
  }
}

extension StoredGrant {
  /// What an answer changes: what it leaves out stays as it is.
  mutating func take(_ received: Received, nonce: NonceValue?) {
    if let new = received.answer.refreshToken, new != secrets.refreshToken {
      secrets.previousRefreshToken = secrets.refreshToken
      secrets.refreshToken = new
      record.rotation &+= 1
    }
    if case .success(let response) = received.answer.token {
      if let idToken = response.idToken { takeIDToken(idToken) }
      if let scope = response.scope, received.isForWholeGrant(record) {
        record.scope = scope.split(separator: " ").map(String.init)
      }
    }
    if record.origins.isEmpty { record.origins = [received.origin.description] }
    if let nonce { secrets.authorizationServerNonce = Secret(nonce.bytes) }
    record.condition = .usable
    record.lastRefreshAtUnixSeconds = received.moment.wallUnixSeconds
  }

  /// A session's end that is known is never moved by a renewal; one that is not is learned.
  private mutating func takeIDToken(_ idToken: Secret) {
    guard let claims = try? IDTokenClaims(parsing: idToken) else { return }  // it says nothing, and is of no use later
    secrets.idToken = idToken
    if record.sessionExpiresAtUnixSeconds == nil {
      record.sessionExpiresAtUnixSeconds = claims.sessionExpiresAtUnixSeconds
    }
  }
}

extension Received {
  /// A refresh that asks for less says nothing of what the grant as a whole allows. RFC 6749 §6
  fileprivate func isForWholeGrant(_ record: GrantRecord) -> Bool {
    target.scope.isEmpty || record.scope.isEmpty || Set(record.scope).isSubset(of: target.scope)
  }

  /// nil if the answer has no token that is of use.
  func storedToken(bootID: String) -> StoredToken? {
    guard case .success(let response) = answer.token else { return nil }
    return StoredToken(
      target: target.text, accessToken: response.accessToken, scheme: response.tokenType.scheme ?? "Bearer",
      receivedAtWallNanoseconds: moment.wallNanoseconds, receivedAtBootNanoseconds: moment.bootNanoseconds,
      bootID: bootID, expiresInSeconds: response.expiresInSeconds)
  }
}
