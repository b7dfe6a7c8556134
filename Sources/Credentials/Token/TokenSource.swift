import Cryptography
package import HTTPWire
package import OAuth
import Locking

/// One per token key (account, audience, resource, scope set) or static credential. Any thread.
///
/// At most one fetch is in flight; those that need its result wait for it together. A waiter that leaves does not stop it.
package final class TokenSource: Sendable {
  package typealias Waiter = @Sendable (Result<AccessToken, TokenFailure>) -> Void

  /// A place among those that wait, to be given up by ``leave(_:)``.
  package struct Place: Sendable, Equatable {
    fileprivate let number: UInt64
  }

  private struct Waiting {
    let replacing: AccessToken?
    let waiter: Waiter
  }

  private struct State {
    var life = TokenLife()
    /// By the number of their place: later ones have greater numbers.
    var waiting: [UInt64: Waiting] = [:]
    var lastPlace: UInt64 = 0
    /// The token before the current one: an upstream may still echo it, so the redactor keeps knowing it.
    var previous: AccessToken?
    var lastFetchAtUnixSeconds: Int64?
    var lastFailure: TokenSourceStatus.Failure?
    var timer: Task<Void, Never>?
    /// Counts how often what was fetched before stopped being of use.
    var epoch: UInt64 = 0
  }

  package let name: String
  private let fetcher: any TokenFetching
  private let nonces: NonceCells
  private let environment: CredentialEnvironment
  private let state = Protected(State())

  init(name: String, fetcher: any TokenFetching, nonces: NonceCells, environment: CredentialEnvironment) {
    self.name = name
    self.fetcher = fetcher
    self.nonces = nonces
    self.environment = environment
  }

  deinit {
    let (timer, tokens) = state.withLock { ($0.timer, [$0.life.held?.token, $0.previous]) }
    timer?.cancel()
    for secret in tokens.flatMap({ $0?.secrets ?? [] }) { environment.secrets.release(secret) }
  }

  /// The token to send now, or nil: then ``acquire(waiter:)``. The fast path of every request.
  package func current() -> AccessToken? {
    let now = Moment(environment.time)
    let (token, startsFetch) = state.withLock { $0.life.use(at: now) }
    if startsFetch { startFetch() }
    return token
  }

  /// Calls back with a token, if need be after fetching one: maybe at once and on this thread, maybe later on another.
  ///
  /// - Returns: where it waits, nil if it was called at once.
  @discardableResult
  package func acquire(waiter: @escaping Waiter) -> Place? { acquire(replacing: nil, waiter: waiter) }

  /// As ``acquire(waiter:)``, for an exchange whose token was refused and which ``refused(_:afterRefresh:)`` told to go on.
  ///
  /// A failure means that there is nothing better: deliver the answer that refused the token.
  @discardableResult
  package func acquire(replacing token: AccessToken, waiter: @escaping Waiter) -> Place? {
    acquire(replacing: .some(token), waiter: waiter)
  }

  /// Forgets who waits there; it may be called back all the same if its result is on the way. The fetch goes on.
  package func leave(_ place: Place) {
    _ = state.withLock { $0.waiting.removeValue(forKey: place.number) }
  }

  /// As ``acquire(waiter:)``, for the control plane.
  package func token() async throws(TokenFailure) -> AccessToken {
    let result = await withCheckedContinuation { continuation in acquire { continuation.resume(returning: $0) } }
    return try result.get()
  }

  /// Takes note that an upstream refused `token`; true if it is worth replacing and sending again.
  ///
  /// False if a fresh token was refused within the last 30 s, if none can be had now, or if the value can't change.
  /// - Parameter afterRefresh: the refused send was itself a replay with a token fetched for it; the result is false.
  package func refused(_ token: AccessToken, afterRefresh: Bool) -> Bool {
    let now = Moment(environment.time)
    return state.withLock { $0.life.refused(token, afterRefresh: afterRefresh, at: now) } && fetcher.kind.canChange
  }

  /// The nonces of the resource server at `origin`, shared by all tokens of the account.
  package func nonceCell(origin: Origin) -> NonceCell { nonces.resourceServer(origin) }

  private func acquire(replacing token: AccessToken?, waiter: @escaping Waiter) -> Place? {
    let now = Moment(environment.time)
    let (decision, place) = state.withLock { state in
      let decision = state.life.want(at: now, replacing: token)
      guard case .wait = decision.outcome else { return (decision, Place?.none) }
      state.lastPlace += 1
      state.waiting[state.lastPlace] = Waiting(replacing: token, waiter: waiter)
      return (decision, Place(number: state.lastPlace))
    }
    if decision.startsFetch { startFetch() }
    switch decision.outcome {
    case .serve(let token): waiter(.success(token))
    case .fail(let failure): waiter(.failure(failure))
    case .wait: break
    }
    return place
  }

  /// What it comes from has changed: failures are forgotten, and so is what a fetch under way will bring.
  ///
  /// - Parameters:
  ///   - keepsToken: the token that is held may still be sent.
  ///   - keepsMask: values that are not sent any more are still masked for a while: an upstream may echo them.
  func startOver(keepsToken: Bool, keepsMask: Bool = true) {
    let (timer, released) = state.withLock { state -> (Task<Void, Never>?, [AccessToken]) in
      state.epoch += 1
      state.lastFailure = nil
      let forgotten = state.life.startOver(keepsToken: keepsToken)
      guard forgotten != nil || !keepsMask else { return (nil, []) }
      let (timer, before) = (state.timer, state.previous)
      state.timer = nil
      state.previous = keepsMask ? forgotten : nil
      return (timer, [before, keepsMask ? nil : forgotten].compactMap { $0 })
    }
    timer?.cancel()
    for secret in released.flatMap(\.secrets) { environment.secrets.release(secret) }
  }

  /// Runs the one fetch the state just allowed; it outlives whoever asked for it.
  private func startFetch() {
    let (current, epoch) = state.withLock { ($0.life.held?.token.secret, $0.epoch) }
    Task {
      do throws(FetchFailure) {
        finish(.success(try await fetcher.fetch(replacing: current)), of: epoch)
      } catch {
        finish(.failure(error), of: epoch)
      }
    }
  }

  /// The redactor is told of what came before anybody else; a value that it can't mask is none.
  private func held(_ fetched: FetchedToken) -> Result<FetchedToken, FetchFailure> {
    do throws(UnmaskableSecret) {
      try environment.secrets.hold(all: fetched.secrets)
      return .success(fetched)
    } catch {
      return .failure(fetcher.failure(error))
    }
  }

  private func finish(_ fetched: Result<FetchedToken, FetchFailure>, of epoch: UInt64) {
    guard state.withLock({ $0.epoch == epoch }) else { return startFetch() }  // for those who wait
    let result = fetched.flatMap(held)
    let now = Moment(environment.time)
    var released: [Secret] = []
    var trouble: FetchFailure?
    let settled = state.withLock { state in
      switch result {
      case .success(let fetched):
        let isReissued = fetcher.kind.isIssued
        switch state.life.fetched(fetched, isReissued: isReissued, at: now) {
        case .first: break
        case .same: released += fetched.secrets  // they are held already
        case .replaced(let leaving):
          released += state.previous?.secrets ?? []
          state.previous = leaving
        }
        state.lastFetchAtUnixSeconds = (fetched.received ?? now).wallUnixSeconds
        state.lastFailure = nil
        scheduleRenewal(&state)
      case .failure(let failure):
        state.life.failed(failure, at: now)
        if failure.isOfSetUp, failure.detail != state.lastFailure?.detail { trouble = failure }
        state.lastFailure = .init(code: failure.code, detail: failure.detail, atUnixSeconds: now.wallUnixSeconds)
      }
      let waiting = state.waiting.sorted { $0.key < $1.key }.map(\.value)
      state.waiting = [:]
      let succeeded = (try? result.get()) != nil  // only whether it did
      return waiting.map { entry in
        (entry.waiter, state.life.settle(replacing: entry.replacing, succeeded: succeeded, at: now))
      }
    }
    for secret in released { environment.secrets.release(secret) }
    if let trouble { tell(trouble, at: now) }
    for (waiter, result) in settled { waiter(result) }
  }

  private func tell(_ failure: FetchFailure, at now: Moment) {
    environment.troubles(
      CredentialTrouble(
        credential: name, code: failure.code, detail: failure.detail,
        next: TokenSourceStatus.next(of: failure, kind: fetcher.kind, retryInSeconds: 0)))
  }

  /// So that a token in use is renewed before a request has to wait for it, however rare requests are.
  private func scheduleRenewal(_ state: inout State) {
    state.timer?.cancel()
    state.timer = nil
    guard let held = state.life.held, held.lifetime.renewedByTimer else { return }
    let generation = held.token.generation
    let age = Moment(environment.time).elapsedNanoseconds(since: held.since)
    let wait = max(0, held.lifetime.refreshAfterNanoseconds - age)
    let sleep = environment.sleep
    state.timer = Task { [weak self] in
      await sleep(.nanoseconds(wait))
      guard !Task.isCancelled else { return }
      self?.renew(generation)
    }
  }

  private func renew(_ generation: UInt64) {
    let now = Moment(environment.time)
    if state.withLock({ $0.life.renewalIsDue(of: generation, at: now) }) { startFetch() }
  }

  var renewal: Task<Void, Never>? { state.withLock { $0.timer } }
  var waitingCount: Int { state.withLock { $0.waiting.count } }
  var isFetching: Bool { state.withLock { $0.life.isFetching } }

  package func status() -> TokenSourceStatus {
    let now = Moment(environment.time)
    return state.withLock { state in
      TokenSourceStatus(
        name: name, kind: fetcher.kind, life: state.life, lastFetchAtUnixSeconds: state.lastFetchAtUnixSeconds,
        lastFailure: state.lastFailure, warnings: fetcher.warnings, at: now)
    }
  }
}
