import HTTPWire

/// What a token request is entitled to, whichever grant type it used.
struct Entitlement {
  var clientID: String
  /// The `sub` of the access token.
  var subject: String
  var scope: String?
  var audiences: [String]
  /// Who acts for the subject. RFC 8693 §4.1
  var actor: JSONValue?
  /// The grant that the tokens end with; nil if there is none.
  var grant: SimulatedGrant?
  /// What the answer names.
  var refreshToken: String?
  /// Whether the grant begins with this answer.
  var isFirst = false
  /// Set by a token exchange, whose answer is no login's. RFC 8693 §2.2.1
  var issuedTokenType: String?
}
