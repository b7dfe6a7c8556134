/// When a server demands a nonce and which one. RFC 9449 §8, §9
package enum NonceMode: String, Sendable, CaseIterable {
  /// No nonce is demanded or given.
  case off
  /// One nonce, given by a challenge, that stays good until it expires.
  case once
  /// Every accepted request that used the newest nonce is answered with the next one. RFC 9449 §8.2
  case rotate
  /// Every request is challenged with a new nonce: nothing is ever accepted.
  case alwaysChallenge = "always-challenge"
  /// Every request is challenged with the same nonce, even one that has it.
  case sameNonce = "same-nonce"
  /// Proofs without a nonce are accepted, wrong nonces challenged, and every answer names the current one.
  case offered
}

/// Everything about the nonces of one server.
package struct NoncePolicy: Sendable {
  package var mode: NonceMode
  /// How many nonces before the newest are accepted too. Servers of many clients accept a few; 0 makes every request in
  /// flight during a rotation fail.
  package var previousAccepted = 0
  /// How long a nonce is good; nil is for ever.
  package var lifetimeSeconds: Int?
  /// Whether each key has nonces of its own, as some servers have them for each client.
  package var isPerKey = false
  package var challenge = NonceChallenge()

  package init(_ mode: NonceMode = .off, previousAccepted: Int = 0, lifetimeSeconds: Int? = nil) {
    self.mode = mode
    self.previousAccepted = previousAccepted
    self.lifetimeSeconds = lifetimeSeconds
  }
}

/// How a challenge looks. The defaults are what RFC 9449 §8 and §9 say; each change is what some server does.
package struct NonceChallenge: Sendable {
  /// nil: 400 at the authorization server, 401 at the API.
  package var status: Int?
  package var nonceFields = NonceFields.one
  /// Where an API says `use_dpop_nonce`.
  package var place = Place.field
  /// A Bearer challenge beside the DPoP challenge. RFC 9110 §11.6.1
  package var bearer = BearerChallenge.none
  /// Writes `dpop ERROR="use_dpop_nonce", ALGS=…`: names are case-insensitive. RFC 9110 §11.1
  package var hasOddCase = false

  package init() {}

  package enum NonceFields: String, Sendable, CaseIterable {
    case one
    /// No `DPoP-Nonce` at all: there is nothing to try again with.
    case none
    /// Two different ones: malformed.
    case two
  }

  package enum Place: String, Sendable, CaseIterable {
    case field
    /// Only in a JSON body: no `WWW-Authenticate`.
    case body
    case both
  }

  package enum BearerChallenge: String, Sendable, CaseIterable {
    case none
    case beforeInOneLine = "before"
    case afterInOneLine = "after"
    case beforeInOwnLine = "line-before"
    case afterInOwnLine = "line-after"
  }
}
