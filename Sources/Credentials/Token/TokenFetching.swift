import Cryptography

/// Gets the value of a credential from where it comes from. One call at a time.
protocol TokenFetching: Sendable {
  /// - Parameter current: the value that is there and not good enough; nil if there is none.
  func fetch(replacing current: Secret?) async throws(FetchFailure) -> FetchedToken

  /// What is to be said of a value of it that can't be kept out of the log.
  func failure(_ refusal: UnmaskableSecret) -> FetchFailure

  /// What kind of credential this is, for the user.
  var kind: TokenSourceKind { get }
  /// Things the user should know although all works, e.g. that others can read the file.
  var warnings: [String] { get }
}

/// A value that just came.
struct FetchedToken: Sendable {
  let secret: Secret
  /// A form of the secret that the redactor could not find by itself, such as `user:password` in Base64.
  var derived: Secret?
  let placement: AccessToken.Placement
  let proofKey: ProofKey?
  let lifetime: TokenLifetime
  /// As the issuer said; nil if the value has no end by time, or the issuer did not say.
  let expiresInSeconds: Int64?
  /// When the issuer gave it, if that was not just now: `lifetime` and `expiresInSeconds` count from there.
  var received: Moment?

  /// Everything of it that must not show.
  var secrets: [Secret] { derived.map { [secret, $0] } ?? [secret] }
}
