import Cryptography
import HTTPWire
import OAuth

/// The refresh itself, in the order that loses nothing: note, send, store, give out.
extension AccountTokens {
  /// The lease is ours.
  func refresh(
    _ grant: StoredGrant, _ target: TokenTargetKey, _ binding: TokenBinding
  ) async throws(FetchFailure) -> FetchedToken? {
    guard let refreshToken = grant.secrets.refreshToken else {
      if case .password = profile.origin { return try await first(for: target, replacing: grant) }
      throw .refused(grant.record.name)
    }
    let endpoint = try await client.tokenEndpoint()
    try GrantRules.check(endpoint.url, for: grant.record)
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
    } catch {
      let failure = try await settle(error, grant, wasInterrupted: wasInterrupted)
      guard case .password = profile.origin, error.effect.isRefusalOfGrant else { throw failure }
      return try await first(for: target, replacing: grant)
    }
    world.step(.answered)
    return try await keep(
      Received(answer, target: target, from: endpoint.url.origin, at: Moment(environment.time)), of: grant, binding)
  }

  /// One call of the token endpoint.
  func send(
    _ grant: some TokenGrant, target: TokenTargetKey, to endpoint: TokenEndpoint,
    _ authentication: ClientAuthentication, _ binding: TokenBinding, secrets: [Secret]
  ) async throws(FetchFailure) -> RefreshAnswer {
    world.step(.sending)
    let hidden = secrets + [authentication.secret].compactMap { $0 }
    return try await client.caller(nonces: nonces).call(
      grant.request(endpoint: endpoint.url, authentication: authentication), binding: binding
    ) { answer throws(FetchFailure) in
      try RefreshAnswer(judging: answer, of: grant, target: target, binding: binding, secrets: hidden)
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

  /// Writes down that the refresh token is about to be sent.
  ///
  /// - Returns: whether that was written down before, for this very token, and its end was not.
  private func note(_ record: GrantRecord) async throws(FetchFailure) -> Bool {
    let intent = RefreshIntent(
      grant: record.id, rotation: record.rotation,
      startedAtUnixSeconds: Moment(environment.time).wallUnixSeconds)
    return try await world.store.failing { (store) throws(StoreError) in
      let isNoted = try store.intents().contains { $0.grant == intent.grant && $0.rotation == intent.rotation }
      if !isNoted { try store.begin(intent) }
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
    guard isJudged else {
      return FetchFailure(kind: .unavailable, code: "conflict", detail: "the account was changed at the same time")
    }
    return wasInterrupted ? .rotationInterrupted(record.name) : .refused(record.name)
  }
}
