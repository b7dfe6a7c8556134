package import HTTPWire

/// A client at an OAuth 2.0 or OpenID Connect authorization server.
package struct ClientProfile: Sendable, Equatable {
  /// How one login gets tokens for further audiences.
  package enum TargetMethod: String, Sendable {
    /// The refresh grant asks for each, RFC 6749 §6 and RFC 8707 §2.2.
    case refresh
    /// The login's access token is exchanged for each, RFC 8693.
    case tokenExchange = "token_exchange"
  }

  /// Exactly as written, because metadata has to repeat it byte for byte, RFC 8414 §3.3. Nil when `tokenEndpoint` stands alone.
  package var issuer: String?
  /// `issuer` taken apart.
  package var issuerURL: HTTPURL?
  /// Given by hand: it goes before what metadata says. There is an issuer or this.
  package var tokenEndpoint: HTTPURL?
  package var grant: Grant
  package var clientID: String
  package var authentication: ClientAuthentication
  /// Shown in TLS handshakes with the authorization server; there with `authentication` `.tls`, RFC 8705 §2.
  package var clientCertificate: ClientCertificate?
  /// What routes that ask for nothing else get.
  package var target: TokenTarget
  /// `.refresh` for a grant that is no login: it asks for each target anew.
  package var targetMethod: TargetMethod
  /// Tokens are bound to a key and requests carry proofs, RFC 9449.
  package var dpop: Bool
  /// With `dpop`: take a token of another type than DPoP and send it as what it is.
  package var allowBearer: Bool
  /// Plain http beyond loopback was allowed by hand.
  package var allowInsecure: Bool
  /// Absolute path of PEM certificates to trust for the authorization server instead of the system's; nil is the system's.
  package var certificateAuthorityFile: String?

  package init(
    issuer: String?, issuerURL: HTTPURL?, tokenEndpoint: HTTPURL?, grant: Grant, clientID: String,
    authentication: ClientAuthentication = .none, clientCertificate: ClientCertificate? = nil,
    target: TokenTarget = TokenTarget(), targetMethod: TargetMethod = .refresh, dpop: Bool = false,
    allowBearer: Bool = false, allowInsecure: Bool = false, certificateAuthorityFile: String? = nil
  ) {
    self.issuer = issuer
    self.issuerURL = issuerURL
    self.tokenEndpoint = tokenEndpoint
    self.grant = grant
    self.clientID = clientID
    self.authentication = authentication
    self.clientCertificate = clientCertificate
    self.target = target
    self.targetMethod = targetMethod
    self.dpop = dpop
    self.allowBearer = allowBearer
    self.allowInsecure = allowInsecure
    self.certificateAuthorityFile = certificateAuthorityFile
  }
}
