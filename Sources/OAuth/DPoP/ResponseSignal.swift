/// All that counts in a resource server's answer when it is judged whether to send again.
package struct ResponseSignal: Sendable {
  /// How much of a body may be read to find a challenge that is named nowhere else.
  package static let peekBytesMax = 10_240
  /// A 401 that gives no reason is taken for an expired token only if the token is at least this old.
  package static let bareRefusalTokenAge = Duration.seconds(60)

  package var status: UInt16
  /// What the `WWW-Authenticate` fields say.
  package var challenge: ChallengeVerdict
  package var nonceOffer: NonceReceipt.Offer
  package var nonceReplacedByAnotherExchange: Bool
  /// The JSON body has `"error": "use_dpop_nonce"`.
  package var bodyDemandsNonce: Bool
  /// The request had a DPoP proof, not a plain bearer token.
  package var proofWasSent: Bool
  package var bodyIsReplayable: Bool
  /// The token was received at least ``bareRefusalTokenAge`` ago.
  package var tokenIsOld: Bool

  package init(
    status: UInt16, challenge: ChallengeVerdict, nonceOffer: NonceReceipt.Offer = .none,
    nonceReplacedByAnotherExchange: Bool = false, bodyDemandsNonce: Bool = false, proofWasSent: Bool,
    bodyIsReplayable: Bool, tokenIsOld: Bool
  ) {
    self.status = status
    self.challenge = challenge
    self.nonceOffer = nonceOffer
    self.nonceReplacedByAnotherExchange = nonceReplacedByAnotherExchange
    self.bodyDemandsNonce = bodyDemandsNonce
    self.proofWasSent = proofWasSent
    self.bodyIsReplayable = bodyIsReplayable
    self.tokenIsOld = tokenIsOld
  }

  /// RFC 9449 §9 says 401; resource servers that answer 400 exist. 403 is never a challenge.
  var hasNonceStatus: Bool { status == 401 || status == 400 }

  /// An explicit `use_dpop_nonce`, never a description and never `invalid_dpop_proof`. One in the body alone counts
  /// only beside a nonce. RFC 9449 §9
  var demandsNonce: Bool {
    guard hasNonceStatus, proofWasSent else { return false }
    return challenge == .useDPoPNonce || (challenge == .bare && bodyDemandsNonce && nonceOffer != .none)
  }

  /// `invalid_token`, or a 401 that gives no reason. RFC 6750 §3.1
  var refusesToken: Bool { status == 401 && (challenge == .invalidToken || challenge == .bare) }
}

/// What the challenges of one answer come down to for the scheme the request used.
package enum ChallengeVerdict: Sendable, Equatable {
  /// No challenge, or none with an error.
  case bare
  case useDPoPNonce
  case invalidToken
  /// More rights are wanted, which no new token of the same grant has. RFC 6750 §3.1
  case insufficientScope
  /// A newer or stronger login is wanted. RFC 9470 §3
  case insufficientUserAuthentication
  /// An error another send can't cure, such as `invalid_dpop_proof`.
  case otherError
}
