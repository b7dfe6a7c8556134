import Cryptography
import EventLoop
import HTTPWire
import OAuth

/// What leaves the daemon on purpose.
extension AccountBook {
  package func token(_ name: AccountName, _ ask: TokenAsk) async throws(AccountFailure) -> ExportedToken {
    let token = try await exported(name, ask).token
    return ExportedToken(
      accessToken: token.secret, scheme: token.scheme, expiresAtUnixSeconds: token.expiresAtUnixSeconds)
  }

  package func fields(_ name: AccountName, _ ask: FieldsAsk) async throws(AccountFailure) -> [ExportedField] {
    let (token, source) = try await exported(name, ask.token)
    guard let field = token.field else {
      throw AccountFailure(
        .invalid, code: "not_in_a_field", detail: "the credential goes into the query, not into a field",
        next: "Use proofd token.")
    }
    let authorization = ExportedField(name: field.name, value: field.value)
    guard let key = token.proofKey else { return [authorization] }
    let skew = environment.skews.skew(of: ask.url.origin)
    let nonce = source.nonceCell(origin: ask.url.origin).current
    do throws(OAuthError) {
      let proof = try EndpointProof.make(
        key: key, method: ask.method, url: ask.url, accessTokenHash: token.ath, nonce: nonce,
        issuedAtUnixSeconds: skew.issuedAtUnixSeconds(wallNanoseconds: environment.time.wallNanoseconds))
      return [authorization, ExportedField(name: "DPoP", value: Secret(utf8: proof))]
    } catch {
      throw AccountFailure(.refused, code: error.code, detail: "\(error)", next: "Try again.")
    }
  }

  private func exported(
    _ name: AccountName, _ ask: TokenAsk
  ) async throws(AccountFailure) -> (token: AccessToken, source: TokenSource) {
    let (isKnown, isAllowed) = state.withLock {
      ($0.names.contains(name.profile), $0.exportable.contains(name.profile))
    }
    guard isKnown else {
      throw AccountFailure(
        .notFound, code: "profile_unknown", detail: "there is no credential \(name)",
        next: "See proofd credentials list.")
    }
    guard isAllowed else {
      throw AccountFailure(
        .forbidden, code: "export_not_allowed", detail: "\(name.profile) does not give its tokens away",
        next: "Send requests through the gateway, or set allow_export: true for it.")
    }
    let base = profile(name.profile)?.login.target ?? state.withLock { $0.others[name.profile]?.target }
    guard let base, let source = source(of: name, target: base.overridden(by: ask)) else {
      throw AccountFailure(
        .notFound, code: "account_unknown", detail: "\(name.profile) has no accounts", next: "Leave the account away.")
    }
    guard profile(name.profile) != nil else {
      return (try await token(of: source, livingFor: ask.minimumLifetime), source)
    }
    return try await whileOpen { () throws(AccountFailure) in
      (try await self.token(of: source, livingFor: ask.minimumLifetime), source)
    }
  }

  /// A token that lives long enough, if the issuer gives such at all.
  private func token(
    of source: TokenSource, livingFor minimum: Duration?
  ) async throws(AccountFailure) -> AccessToken {
    do throws(TokenFailure) {
      let token = try await source.token()
      guard let minimum, !lives(token, for: minimum) else { return token }
      // One that would not do if it were new is not worth another refresh.
      let age = token.age(bootNanoseconds: environment.time.bootNanoseconds)
      if lives(token, for: minimum - age) {
        let next = try await source.token(replacing: token)
        if lives(next, for: minimum) { return next }
      }
    } catch {
      throw AccountFailure(error, status: source.status())
    }
    throw AccountFailure(
      .refused, code: "large_min_ttl", detail: "the issuer gives no token that lives so long",
      next: "Ask for less with --min-ttl.")
  }

  private func lives(_ token: AccessToken, for minimum: Duration) -> Bool {
    guard let end = token.expiresAtUnixSeconds else { return true }
    return end - Moment(environment.time).wallUnixSeconds >= minimum.components.seconds
  }
}

extension TokenSource {
  /// Another token than this one, which is not good enough.
  func token(replacing token: AccessToken) async throws(TokenFailure) -> AccessToken {
    let result = await withCheckedContinuation { continuation in
      acquire(replacing: token) { continuation.resume(returning: $0) }
    }
    return try result.get()
  }
}
