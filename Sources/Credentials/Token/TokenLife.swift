import EventLoop

/// The life of one token and its successors: decides what a request gets and when to fetch. Pure; ``TokenSource`` acts.
struct TokenLife {
  /// What a request gets, and whether a fetch is to be started besides.
  struct Decision {
    enum Outcome {
      case serve(AccessToken)
      case fail(TokenFailure)
      case wait
    }
    let outcome: Outcome
    var startsFetch = false
  }

  struct Held {
    let token: AccessToken
    let since: Moment
    let lifetime: TokenLifetime
    /// It was fetched because the one before was refused.
    let forced: Bool
    var used = false
  }

  /// What a fetch did to the token.
  enum Change {
    case first
    case same
    case replaced(AccessToken)
  }

  private(set) var held: Held?
  private(set) var isFetching = false
  /// The token whose refusal the running fetch answers.
  private var replacing: AccessToken?
  private(set) var backoff = FetchBackoff()
  private var refusals = RefusalGuard()

  /// The token to send now without further ado, or nil: then ``want(at:replacing:)`` decides.
  mutating func use(at now: Moment) -> (token: AccessToken?, startsFetch: Bool) {
    guard let held else { return (nil, false) }
    let elapsed = now.elapsedNanoseconds(since: held.since)
    // Too close to its end is still the best there is while the last fetch failed: nobody waits for a dead issuer.
    let servesUntil = backoff.hasFailed ? held.lifetime.endsAfterNanoseconds : held.lifetime.waitAfterNanoseconds
    guard elapsed < servesUntil else { return (nil, false) }
    self.held?.used = true
    let starts = elapsed >= held.lifetime.refreshAfterNanoseconds && startFetch(at: now)
    return (held.token, starts)
  }

  /// Decides for a request that can wait.
  ///
  /// - Parameter token: one that was refused; anything but that is wanted.
  mutating func want(at now: Moment, replacing token: AccessToken?) -> Decision {
    if let token {
      if let held, held.token.generation != token.generation, isSendable(held, at: now) {
        return Decision(outcome: .serve(held.token))
      }
    } else {
      let (current, starts) = use(at: now)
      if let current { return Decision(outcome: .serve(current), startsFetch: starts) }
    }
    let starts = startFetch(at: now)
    // A fetch that ran already is not forced by this: what it brings may be refused like any other token.
    if let token, starts, held?.token.generation == token.generation { replacing = token }
    if starts || isFetching { return Decision(outcome: .wait, startsFetch: starts) }
    return Decision(outcome: .fail(backoff.failure(at: now)))
  }

  /// Whether a timer that was set when `generation` came should fetch its successor.
  mutating func renewalIsDue(of generation: UInt64, at now: Moment) -> Bool {
    guard let held, held.used, held.token.generation == generation,
      now.elapsedNanoseconds(since: held.since) >= held.lifetime.refreshAfterNanoseconds
    else { return false }
    return startFetch(at: now)
  }

  /// Forgets failures, and the token as well if it must not be sent any more; a fetch that runs goes on.
  ///
  /// - Returns: the token that was forgotten.
  mutating func startOver(keepsToken: Bool) -> AccessToken? {
    backoff.succeeded()
    guard !keepsToken else { return nil }
    defer { held = nil }
    replacing = nil
    return held?.token
  }

  /// Takes what the fetch brought. A value that can't have been issued anew (a file that did not change) stays the same token.
  mutating func fetched(_ fetched: FetchedToken, isReissued: Bool, at now: Moment) -> Change {
    isFetching = false
    backoff.succeeded()
    let received = fetched.received ?? now
    let previous = held?.token
    let token: AccessToken
    if !isReissued, let previous, previous.secret == fetched.secret {
      token = previous
    } else {
      token = AccessToken(
        secret: fetched.secret, derived: fetched.derived, placement: fetched.placement, proofKey: fetched.proofKey,
        receivedBootNanoseconds: received.bootNanoseconds,
        expiresAtUnixSeconds: fetched.expiresInSeconds.map { received.wallUnixSeconds.addingSaturated($0) })
    }
    held = Held(token: token, since: received, lifetime: fetched.lifetime, forced: replacing != nil)
    if let replacing, replacing.secret == fetched.secret {
      // The very value that was refused: sending it again is of no use.
      refusals.freshTokenRefused(token.generation, at: now)
    }
    replacing = nil
    guard let previous else { return .first }
    return previous === token ? .same : .replaced(previous)
  }

  mutating func failed(_ failure: FetchFailure, at now: Moment) {
    isFetching = false
    replacing = nil
    backoff.failed(failure, at: now)
  }

  /// What one that waited gets when the fetch is over, successful or not.
  mutating func settle(
    replacing token: AccessToken?, succeeded: Bool, at now: Moment
  ) -> Result<AccessToken, TokenFailure> {
    held?.used = true
    guard let held else { return .failure(backoff.failure(at: now)) }
    if let token, held.token.generation == token.generation || held.token.secret == token.secret {
      return .failure(succeeded ? Self.unchanged : backoff.failure(at: now))
    }
    // A token that just came is sendable, however short it lives: it serves all that asked before it came.
    return isSendable(held, at: now) ? .success(held.token) : .failure(backoff.failure(at: now))
  }

  /// Whether a token that an upstream refused is worth replacing.
  ///
  /// Not if it is the result of a forced fetch itself: then the upstream refuses all of them, and for a while there is
  /// no other forced fetch. If another request replaced it already, or a fetch is under way, there is nothing to fetch,
  /// only to send again with what comes.
  mutating func refused(_ token: AccessToken, afterRefresh: Bool, at now: Moment) -> Bool {
    if afterRefresh {
      refusals.freshTokenRefused(token.generation, at: now)
      return false
    }
    guard let held else { return false }
    if held.token.generation != token.generation {
      return isSendable(held, at: now) && !refusals.isMarked(held.token.generation)
    }
    // The token is being replaced anyway, and there are servers that end it before their answer is here.
    if isFetching { return true }
    if held.forced, held.token.age(bootNanoseconds: now.bootNanoseconds) < RefusalGuard.pauseMin {
      refusals.freshTokenRefused(token.generation, at: now)
    }
    if refusals.isOn(at: now) || backoff.isOn(at: now) { return false }
    refusals.forcedFetchStarts(replacing: token.generation)
    return true
  }

  private func isSendable(_ held: Held, at now: Moment) -> Bool {
    now.elapsedNanoseconds(since: held.since) < held.lifetime.endsAfterNanoseconds
  }

  private mutating func startFetch(at now: Moment) -> Bool {
    guard !isFetching, !backoff.isOn(at: now) else { return false }
    isFetching = true
    return true
  }

  static let unchanged = TokenFailure.refused(detail: "there is no other token than the one that was refused")
}

extension Int64 {
  fileprivate func addingSaturated(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
