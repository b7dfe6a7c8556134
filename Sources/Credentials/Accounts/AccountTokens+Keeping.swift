import Cryptography
import HTTPWire
import Locking
import OAuth

/// What came for a grant, and when.
struct Received: Sendable {
  let answer: RefreshAnswer
  let target: TokenTargetKey
  /// Whom it came from.
  let origin: Origin
  let moment: Moment

  init(_ answer: RefreshAnswer, target: TokenTargetKey, from origin: Origin, at moment: Moment) {
    self.answer = answer
    self.target = target
    self.origin = origin
    self.moment = moment
  }
}

/// An answer that could not be stored: it is kept in memory, used for nothing, and stored before anything else is done.
final class PendingAnswer: Sendable {
  struct Content: Sendable {
    let received: Received
    let grant: GrantID
    let binding: TokenBinding
  }
  private let content = Protected<Content?>(nil)

  var current: Content? { content.withLock { $0 } }
  func set(_ new: Content?) { content.withLock { $0 = new } }
}

/// Makes an answer durable before anybody has it.
extension AccountTokens {
  private static let conflictsMax = 16

  /// Stores what came, and gives it out.
  func keep(
    _ received: Received, of grant: StoredGrant, _ binding: TokenBinding
  ) async throws(FetchFailure) -> FetchedToken {
    let content = PendingAnswer.Content(received: received, grant: grant.record.id, binding: binding)
    pending.set(content)
    let fetched = try await store(content)
    pending.set(nil)
    world.step(.released)
    return try fetched.get()
  }

  func storeWhatIsPending() async throws(FetchFailure) {
    guard let content = pending.current else { return }
    _ = try await store(content)  // the store has the token now
    pending.set(nil)
  }

  /// - Throws: if the store can't take it now.
  private func store(_ content: PendingAnswer.Content) async throws(FetchFailure) -> Result<FetchedToken, FetchFailure>
  {
    let received = content.received
    let nonce = nonces.authorizationServer(received.origin).current
    let id = content.grant
    for _ in 0..<Self.conflictsMax {
      guard
        let current = try await world.store.failing({ (store) throws(StoreError) in try store.grant(id) })
      else {
        // It was removed meanwhile, and that stands: what came is not kept. Let the server know, if it will listen.
        pending.set(nil)
        await revoke(received, content.binding)
        return .failure(.noAccount(name))
      }
      var changed = current
      changed.take(received, nonce: nonce)
      try hold(changed)
      let token = received.storedToken(bootID: world.bootID)
      let (new, step) = (changed, world.step)
      do throws(StoreError) {
        let stored = try await world.store.run { (store) throws(StoreError) in
          step(.storing)
          return try store.update(new, tokens: token.map { [$0] } ?? [], endingIntent: true)
        }
        world.step(.stored)
        guard let token else { return received.answer.token.map { _ in preconditionFailure("there is no token") } }
        return .success(fetched(token, received: received.moment, of: stored.record, content.binding))
      } catch {
        guard error == .conflict else { throw FetchFailure(error) }
        // A tag was set, say. The rotation is ours by the lease.
      }
    }
    throw FetchFailure(kind: .unavailable, code: "conflict", detail: "the account \(name) changes all the time")
  }

  /// Best effort: whoever removed the account did not want this token to exist. RFC 7009 §2.1
  private func revoke(_ received: Received, _ binding: TokenBinding) async {
    guard let token = received.answer.refreshToken, let endpoint = try? await client.tokenEndpoint(),
      let url = endpoint.metadata?.revocationEndpoint(
        mutualTLS: profile.registration.authentication.usesMutualTLS),
      let authentication = try? await client.authentication()
    else { return }  // nobody waits for the outcome, and there is nothing else to do
    let request = RevocationRequest(token: token, hint: .refreshToken)
    try? await client.caller(nonces: nonces).call(
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
      record.rotation += 1
    }
    if case .success(let response) = received.answer.token {
      if let idToken = response.idToken { secrets.idToken = idToken }
      if let scope = response.scope, received.isForWholeGrant(record) {
        record.scope = scope.split(separator: " ").map(String.init)
      }
    }
    if record.origins.isEmpty { record.origins = [received.origin.description] }
    if let nonce { secrets.authorizationServerNonce = Secret(nonce.bytes) }
    record.condition = .usable
    record.lastRefreshAtUnixSeconds = received.moment.wallUnixSeconds
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
