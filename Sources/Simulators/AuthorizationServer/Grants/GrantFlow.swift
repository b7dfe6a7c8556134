/// One grant type at the token endpoint.
protocol GrantFlow {
  /// What the journal tells of the request.
  var record: TokenRequestRecord { get }

  /// Judges everything that is not about the proof, without effect.
  func draft() throws(TokenRefusal) -> Entitlement

  /// Does what the request asks for.
  ///
  /// - Parameter jkt: the key of the proof; nil without one.
  func complete(_ draft: Entitlement, jkt: String?) throws(TokenRefusal) -> Entitlement
}

/// What the journal tells of a request to the token endpoint, without a secret of it.
package struct TokenRequestRecord: Sendable, Equatable {
  package var grantType: GrantType
  package var clientID: String
  /// The grant whose token was presented, or that began; nil if there is none.
  package var grant: Int?
  /// The number of the refresh token that was presented.
  package var rotation: Int?
}

/// The grant types the token endpoint knows. RFC 6749 §4, §6, RFC 7523 §2.1, RFC 8693 §2.1
package enum GrantType: String, Sendable, CaseIterable {
  case clientCredentials = "client_credentials"
  case refreshToken = "refresh_token"
  case password
  case jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
}
