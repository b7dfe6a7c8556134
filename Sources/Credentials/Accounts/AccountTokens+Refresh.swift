import Cryptography
import HTTPWire
import OAuth

/// The refresh itself, in the order that loses nothing: note, send, store, give out.
extension AccountTokens {
  /// - Parameters:
  ///   - session: its turn is ours.
  ///   - lease: ours; it is given back by the caller unless an answer stays pending.
  func refresh(
    _ grant: StoredGrant, for target: TokenTargetKey, in session: GrantSession, _ lease: any GrantLease
  ) async throws(FetchFailure) -> FetchedToken {
    let binding = try binding(of: grant)
    try checkIsMasked(grant)
    guard let refreshToken = grant.secrets.refreshToken else {
      if case .password = profile.origin { return try await renewed(grant, for: target, in: session, lease) }
      throw .refused(grant.record.name)
    }
    let endpoint = try await client.tokenEndpoint()
    try GrantRules.check(endpoint.url, for: grant.record)
    if binding.proofKey != nil { try client.checkProofAlgorithm(endpoint) }
    let authentication = try await client.authentication()
    let wasInterrupted = try await note(grant.record)
    world.step(.intended)
    let request = RefreshTokenGrant(refreshToken: refreshToken, target: requested(target).grantTarget)
    let answer: RefreshAnswer
    do throws(FetchFailure) {
      answer = try await confirmed { () throws(FetchFailure) in
        try await self.send(
          request, target: target, to: endpoint, authentication, binding, secrets: [refreshToken])
      }
      session.ended(nil, at: Moment(environment.time))
    } catch {
      session.ended(error, at: Moment(environment.time))
      let failure = try await settle(error, grant, wasInterrupted: wasInterrupted)
      guard case .password = profile.origin, error.effect.isRefusalOfGrant else { throw failure }
      return try await renewed(grant, for: target, in: session, lease)
    }
    world.step(.answered)
    let received = Received(
      answer, target: target, from: endpoint.url.origin, at: Moment(environment.time))
    return try await keep(received, in: session, binding, lease)
  }

  /// One call of the token endpoint.
  func send(
    _ grant: some TokenGrant, target: TokenTargetKey, to endpoint: TokenEndpoint,
    _ authentication: ClientAuthentication, _ binding: TokenBinding, secrets: [Secret]
  ) async throws(FetchFailure) -> RefreshAnswer {
    world.step(.sending)
    let hidden = secrets + [authentication.secret].compactMap { $0 }
    return try await client.caller(nonces: nonces, for: name).call(
      grant.request(endpoint: endpoint.url, authentication: authentication), binding: binding
    ) { answer throws(FetchFailure) in
      do throws(FetchFailure) {
        return try RefreshAnswer(judging: answer, of: grant, target: target, binding: binding, secrets: hidden)
      } catch {
        if answer.response.status == 404 { client.forgetMetadata() }
        throw error
      }
    }
  }

  /// A server that uses a grant up before it looks at the nonce refuses the second send of a challenge, and so does one
  /// that merely lost track. One more call, with the nonce that is known by now, tells them apart.
  private func confirmed(
    _ call: () async throws(FetchFailure) -> RefreshAnswer
  ) async throws(FetchFailure) -> RefreshAnswer {
    do throws(FetchFailure) {
      return try await call()
    } catch {
      guard error.effect == .grantRefusedAfterChallenge else { throw error }
      return try await call()
    }
  }

  /// With the tokens of a login exchanged for other targets, the refresh itself is always for the login's own.
  private func requested(_ target: TokenTargetKey) -> TokenTargetKey {
    profile.targets == .tokenExchange ? profile.target : target
  }

  /// Writes down that the refresh token is about to be sent. It is written anew each time: a store that can't be written
  /// to can't take the answer either.
  ///
  /// - Returns: whether that was written down before, for this very token, and its end was not.
  private func note(_ record: GrantRecord) async throws(FetchFailure) -> Bool {
    let intent = RefreshIntent(
      grant: record.id, rotation: record.rotation,
      startedAtUnixSeconds: Moment(environment.time).wallUnixSeconds)
    return try await world.store.failing { (store) throws(StoreError) in
      let isNoted = try store.intents().contains { $0.grant == intent.grant && $0.rotation == intent.rotation }
      try store.begin(intent)
      return isNoted
    }
  }

  /// What a refresh that brought nothing means for the grant. Nothing is ever deleted.
  ///
  /// - Returns: what the waiting requests are told.
  private func settle(
    _ failure: FetchFailure, _ grant: StoredGrant, wasInterrupted: Bool
  ) async throws(FetchFailure) -> FetchFailure {
    let record = grant.record
    switch failure.effect {
    case .unknown: return failure  // the note stays: the answer may have been lost
    case .none:
      // If the token was in doubt before, it still is.
      if !wasInterrupted {
        try await world.store.failing { (store) throws(StoreError) in try store.endIntent(of: record.id) }
      }
      return failure
    case .grantRefused, .grantRefusedAfterChallenge:
      return try await condemn(record, wasInterrupted: wasInterrupted)
    }
  }

  /// The server says that the grant is no good. It is believed if the grant is still the one that was sent.
  private func condemn(_ record: GrantRecord, wasInterrupted: Bool) async throws(FetchFailure) -> FetchFailure {
    let isJudged = try await world.store.failing { (store) throws(StoreError) in
      guard var current = try store.records().first(where: { $0.id == record.id }),
        current.rotation == record.rotation
      else { return false }
      current.condition = wasInterrupted ? .rotationInterrupted : .refused
      _ = try store.update(current, endingIntent: true)
      return true
    }
    guard isJudged else { return .conflict(name) }
    return wasInterrupted ? .rotationInterrupted(record.name) : .refused(record.name)
  }
}
