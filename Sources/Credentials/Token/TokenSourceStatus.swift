/// What `proofd status` shows of a token source. Holds no secret.
package struct TokenSourceStatus: Sendable, Equatable {
  package typealias State = AccountStatus.State
  package typealias Failure = AccountStatus.Failure

  package let name: String
  package let kind: TokenSourceKind
  package let state: State
  /// A token can be sent now, whatever the last fetch came to.
  package let canServe: Bool
  package let expiresAtUnixSeconds: Int64?
  package let lastRefreshAtUnixSeconds: Int64?
  /// The last failure, if no success came after it.
  package let lastFailure: Failure?
  /// One thing to do, or what happens by itself.
  package let next: String
  package let warnings: [String]

  init(
    name: String, kind: TokenSourceKind, life: TokenLife, lastFetchAtUnixSeconds: Int64?, lastFailure: Failure?,
    warnings: [String], at now: Moment
  ) {
    self.name = name
    self.kind = kind
    self.lastFailure = lastFailure
    self.warnings = warnings
    expiresAtUnixSeconds = life.held?.token.expiresAtUnixSeconds
    lastRefreshAtUnixSeconds = lastFetchAtUnixSeconds
    let elapsed = life.held.map { now.elapsedNanoseconds(since: $0.since) } ?? .max
    let lifetime = life.held?.lifetime
    canServe = elapsed < (lifetime?.endsAfterNanoseconds ?? 0)
    let isFresh = elapsed < (lifetime?.waitAfterNanoseconds ?? 0)
    state =
      if life.isFetching && !isFresh {
        .refreshing
      } else if isFresh {
        .ready
      } else if canServe {
        .expiring
      } else {
        switch life.backoff.last?.kind {
        case .unavailable: .unavailable
        case .refused: .refused
        case .person(let state): state
        case nil: life.held == nil ? .idle : .expiring
        }
      }
    next = Self.next(
      state: state, kind: kind, failure: life.backoff.last, retryInSeconds: life.backoff.pauseSecondsLeft(at: now))
  }

  private static func next(
    state: State, kind: TokenSourceKind, failure: FetchFailure?, retryInSeconds: Int
  ) -> String {
    let retry = retry(retryInSeconds)
    switch state {
    case .ready: return "Nothing to do."
    case .idle: return "The first request fetches it."
    case .expiring: return "It is replaced \(retry)."
    case .refreshing: return "It is being fetched."
    case .unavailable:
      guard let step = failure?.next else {
        return "It is tried again \(retry); see whether the issuer can be reached."
      }
      return "\(step); it is tried again \(retry)."
    case .refused: return next(of: failure, kind: kind, retryInSeconds: retryInSeconds)
    case .loginRequired, .locked, .sessionExpired, .keyMissing, .keyMismatch, .rotationInterrupted, .storeFailed:
      return "\(failure?.next ?? "See proofd credentials show")."
    }
  }

  /// What to do about a failure that the set-up is to blame for.
  static func next(of failure: FetchFailure?, kind: TokenSourceKind, retryInSeconds: Int) -> String {
    let retry = retry(retryInSeconds)
    switch kind {
    case .clientCredentials, .jwtBearer, .tokenExchange, .authorizationCode, .deviceCode, .password:
      let step = failure?.next ?? "Compare client_id, client_secret, audience, resource and scope with the issuer"
      return "\(step); tried again \(retry)."
    case .environment: return "\(failure?.next ?? "Set the environment variable") and start the daemon anew."
    case .file: return "\(failure?.next ?? "See to the file"); it is read again \(retry)."
    case .command: return "\(failure?.next ?? "Run the command by hand"); it is run again \(retry)."
    case .literal: return "\(failure?.next ?? "Correct the value in the configuration") and start the daemon anew."
    }
  }

  private static func retry(_ seconds: Int) -> String {
    seconds > 0 ? "in \(seconds) s" : "with the next request"
  }
}
