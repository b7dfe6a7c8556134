import Cryptography
import Locking
import OAuth

/// An account as routes name it, with a source of tokens for each target. Any thread.
final class Account: Sendable {
  /// Targets that are asked for one by one, beyond those of the routes.
  static let sourcesMax = 1_000

  let tokens: AccountTokens
  private let sources = Protected<[TokenTargetKey: TokenSource]>([:])

  init(_ tokens: AccountTokens) { self.tokens = tokens }

  var name: AccountName { tokens.name }

  /// The source of tokens for this target; the same one every time.
  func source(for target: TokenTargetKey) -> TokenSource {
    let (known, isFull) = sources.withLock { ($0[target], $0.count >= Self.sourcesMax) }
    if let known { return known }
    let made = make(target)
    if isFull { return made }
    return sources.withLock { sources in
      if let known = sources[target] { return known }
      sources[target] = made
      return made
    }
  }

  var all: [(target: TokenTargetKey, source: TokenSource)] {
    sources.withLock { $0.map { ($0.key, $0.value) } }.sorted { $0.0.text < $1.0.text }
  }

  /// Whether a request was told that somebody has to log in.
  var needsLogin: Bool { all.contains { $0.source.status().state == .loginRequired } }

  private func make(_ target: TokenTargetKey) -> TokenSource {
    let profile = tokens.profile
    let isOwn = target == profile.target || profile.targets == .refresh
    let fetcher: any TokenFetching =
      isOwn
      ? AccountTokenFetcher(tokens: tokens, target: target)
      : ExchangedTokenFetcher(tokens: tokens, target: target, own: source(for: profile.target))
    return TokenSource(
      name: name.description, fetcher: fetcher, nonces: tokens.nonces, environment: tokens.environment)
  }

  /// The account has become another one, or something that kept it from serving is over.
  func startOver(keepsToken: Bool, keepsMask: Bool) {
    for (_, source) in all { source.startOver(keepsToken: keepsToken, keepsMask: keepsMask) }
  }
}

/// Tokens that the account's own grant brings.
private struct AccountTokenFetcher: TokenFetching {
  let tokens: AccountTokens
  let target: TokenTargetKey

  var kind: TokenSourceKind { tokens.profile.kind }
  var warnings: [String] { tokens.client.warnings }

  func failure(_ refusal: UnmaskableSecret) -> FetchFailure { .unmaskableToken(refusal) }

  func fetch(replacing current: Secret?) async throws(FetchFailure) -> FetchedToken {
    try await tokens.token(for: target, replacing: current)
  }
}

/// Tokens that the account's own access token is exchanged for. They are not stored: another exchange brings others.
/// RFC 8693
private struct ExchangedTokenFetcher: TokenFetching {
  let tokens: AccountTokens
  let target: TokenTargetKey
  let own: TokenSource

  var kind: TokenSourceKind { .tokenExchange }
  var warnings: [String] { tokens.client.warnings }

  func failure(_ refusal: UnmaskableSecret) -> FetchFailure { .unmaskableToken(refusal) }

  func fetch(replacing current: Secret?) async throws(FetchFailure) -> FetchedToken {
    try await own.exchanged { (subject) throws(FetchFailure) in try await exchange(subject) }
  }

  private func exchange(_ subject: AccessToken) async throws(FetchFailure) -> FetchedToken {
    try await tokens.checkEndpoint()
    let binding: TokenBinding =
      switch (subject.proofKey, tokens.profile.registration.binding) {
      case (let key?, .dpop(let allowBearer)): .dpop(key: key, allowBearer: allowBearer)
      default: .bearer
      }
    return try await tokens.client.token(
      by: TokenExchangeGrant(subject: .init(subject.secret), target: target.grantTarget), for: target, binding: binding,
      nonces: tokens.nonces)
  }
}
