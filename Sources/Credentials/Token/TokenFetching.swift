import Cryptography

/// Gets the value of a credential from where it comes from. One call at a time.
protocol TokenFetching: Sendable {
  func fetch() async throws(FetchFailure) -> FetchedToken

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

  /// Everything of it that must not show.
  var secrets: [Secret] { derived.map { [secret, $0] } ?? [secret] }
}

/// Why no value came.
struct FetchFailure: Error, Sendable, Equatable {
  enum Kind: Sendable {
    /// It may work later without anybody doing anything.
    case unavailable
    /// Somebody has to change the set-up.
    case refused
  }
  var kind: Kind
  /// A short stable word: an OAuth error code, or one of our own.
  let code: String
  /// For the user; holds no secret.
  let detail: String
  /// What the server asks to wait, if it does.
  var retryAfter: Duration?
  /// When to try again, if the usual backoff makes no sense.
  var pause: Duration?
  /// One thing to do, without a full stop, if there is more to say than for any failure of this kind of source.
  var next: String?
  /// It is about a secret of the set-up, and the detail is ours alone: the log tells it.
  var isOfSetUp = false
}

/// Where the value of a credential comes from.
package enum TokenSourceKind: String, Sendable {
  case environment, file, command, literal
  case clientCredentials = "client_credentials"
}
