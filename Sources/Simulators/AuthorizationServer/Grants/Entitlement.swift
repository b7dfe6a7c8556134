/// What a token request is entitled to, whichever grant type it used.
struct Entitlement {
  var clientID: String
  /// The `sub` of the access token.
  var subject: String
  var scope: String?
  var audiences: [String]
  /// The grant the tokens belong to; nil if nothing can be refreshed.
  var grant: SimulatedGrant?
  /// What the answer names.
  var refreshToken: String?
  /// Whether the grant begins with this answer.
  var isFirst = false
}
