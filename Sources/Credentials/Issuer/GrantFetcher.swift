import Cryptography
import OAuth

/// Fetches tokens that nobody has to log in for, and that are not worth keeping: the same grant brings another one.
struct GrantFetcher: TokenFetching {
  let client: OAuthClient
  let kind: TokenSourceKind
  let target: TokenTargetKey
  let otherWarnings: @Sendable () -> [String]
  /// Whose token the grant exchanges; nil if it stands on no other credential.
  var subject: TokenSource?
  /// The grant for one fetch, with the subject's token if there is a subject.
  let grant: @Sendable (AccessToken?) async throws(FetchFailure) -> any TokenGrant

  var warnings: [String] { client.warnings + otherWarnings() }

  func failure(_ refusal: UnmaskableSecret) -> FetchFailure { .unmaskableToken(refusal) }

  func fetch(replacing current: Secret?) async throws(FetchFailure) -> FetchedToken {
    guard let subject else { return try await fetch(nil) }
    return try await subject.exchanged { (token) throws(FetchFailure) in try await fetch(token) }
  }

  private func fetch(_ subject: AccessToken?) async throws(FetchFailure) -> FetchedToken {
    try await client.token(by: try await grant(subject), for: target, binding: client.binding, nonces: client.nonces)
  }
}

extension OAuthClient {
  /// One token by a grant that leaves nothing behind.
  func token(
    by grant: any TokenGrant, for target: TokenTargetKey, binding: TokenBinding, nonces: NonceCells
  ) async throws(FetchFailure) -> FetchedToken {
    let endpoint = try await tokenEndpoint()
    if binding.proofKey != nil { try checkProofAlgorithm(endpoint) }
    let authentication = try await authentication()
    let answer = try await caller(nonces: nonces).call(
      grant.request(endpoint: endpoint.url, authentication: authentication), binding: binding
    ) { answer throws(FetchFailure) in
      do throws(FetchFailure) {
        return try RefreshAnswer(
          judging: answer, of: grant, target: target, binding: binding,
          secrets: [authentication.secret].compactMap { $0 } + grant.secrets)
      } catch {
        if answer.response.status == 404 { forgetMetadata() }
        throw error
      }
    }
    let response = try answer.token.get()
    return FetchedToken(
      secret: response.accessToken,
      placement: .field(
        name: "Authorization", value: Secret("\(response.tokenType.scheme ?? "Bearer") ", response.accessToken)),
      proofKey: response.tokenType == .dpop ? binding.proofKey : nil,
      lifetime: .issued(expiresInSeconds: response.expiresInSeconds), expiresInSeconds: response.expiresInSeconds)
  }

  /// Before anything is sent to a server that will not take our proofs. RFC 9449 §5.1
  func checkProofAlgorithm(_ endpoint: TokenEndpoint) throws(FetchFailure) {
    do throws(OAuthError) {
      try endpoint.metadata?.checkProofAlgorithm()
    } catch {
      forgetMetadata()  // so that a server that was put right is asked again
      throw FetchFailure(error)
    }
  }
}

extension TokenGrant {
  /// What of it a server may repeat.
  var secrets: [Secret] {
    parameters.compactMap { if case .secret(let secret) = $0.value { secret } else { nil } }
  }
}

extension FetchFailure {
  static func unmaskableToken(_ refusal: UnmaskableSecret) -> FetchFailure {
    FetchFailure(
      kind: .refused, code: refusal.code, detail: "the access token that the issuer gave: \(refusal.detail)",
      next: "Let the issuer give tokens that are harder to guess", isOfSetUp: true)
  }
}
