/// Why no value came.
struct FetchFailure: Error, Sendable, Equatable {
  enum Kind: Sendable, Equatable {
    /// It may work later without anybody doing anything.
    case unavailable
    /// Somebody has to change the set-up.
    case refused
    /// A person has to log in, to unlock the store or to see to it. Asking again costs nobody anything but us.
    case person(AccountStatus.State)
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
  /// What it says about the request that failed.
  var effect = Effect.none

  /// What a token endpoint did with a request that failed.
  enum Effect: Sendable {
    /// Nothing: it was never sent, or refused for another reason than the grant.
    case none
    /// It may have been processed: no answer came, or none that can be read.
    case unknown
    /// The grant is no good, it says. RFC 6749 §5.2
    case grantRefused
    /// As ``grantRefused``, in the answer to the second send of a nonce challenge: a server that uses grants up before
    /// it looks at the nonce says so, too.
    case grantRefusedAfterChallenge

    var isRefusalOfGrant: Bool { self == .grantRefused || self == .grantRefusedAfterChallenge }
  }
}
