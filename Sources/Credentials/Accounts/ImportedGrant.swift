package import Cryptography

/// A grant as another program knows it.
package struct ImportedGrant: Sendable {
  package var refreshToken: Secret
  package var idToken: Secret?
  /// PEM (PKCS #8) or a private JWK of the P-256 key the refresh token is bound to. RFC 9449 §5
  package var proofKey: Secret?
  /// Empty if it is not known.
  package var scope: [String]
  package var tags: [String]
  /// Where the other program used it: compared with the profile's when it is there.
  package var clientID: String?
  package var issuer: String?

  package init(
    refreshToken: Secret, idToken: Secret? = nil, proofKey: Secret? = nil, scope: [String] = [], tags: [String] = [],
    clientID: String? = nil, issuer: String? = nil
  ) {
    self.refreshToken = refreshToken
    self.idToken = idToken
    self.proofKey = proofKey
    self.scope = scope
    self.tags = tags
    self.clientID = clientID
    self.issuer = issuer
  }
}
