package import HTTPWire

/// One entry of `credentials:`: how to get what an upstream wants to see.
package struct CredentialProfile: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// `provider: static`
    case fixed(StaticCredential)
    /// `provider: oidc`
    case client(ClientProfile)
  }

  /// Unique.
  package var name: String
  package var kind: Kind

  package init(name: String, kind: Kind) {
    self.name = name
    self.kind = kind
  }

  /// Whether every send carries a DPoP proof.
  package var usesDPoP: Bool {
    if case .client(let client) = kind { client.dpop } else { false }
  }
}

/// A secret that is sent as it is.
package struct StaticCredential: Sendable, Equatable {
  package enum Placement: Sendable, Equatable {
    /// `Authorization: Bearer TOKEN`, RFC 6750 §2.1
    case bearer(SecretReference)
    /// `Authorization: Basic …`, RFC 7617 §2. The user name has no colon.
    case basic(username: String, password: SecretReference)
    /// A field of its own, for instance `X-Api-Key`.
    case field(name: String, SecretReference)
    /// A query parameter; its name is not percent-encoded yet.
    case query(name: String, SecretReference)
  }

  package var placement: Placement
  /// How often a secret from a file or a command is read again.
  package var reread: Duration

  package static let rereadDefault = Duration.seconds(60)

  package init(placement: Placement, reread: Duration = Self.rereadDefault) {
    self.placement = placement
    self.reread = reread
  }

  package var secret: SecretReference {
    switch placement {
    case .bearer(let secret), .basic(_, let secret), .field(_, let secret), .query(_, let secret): secret
    }
  }
}

/// A client at an OAuth 2.0 or OpenID Connect authorization server.
package struct ClientProfile: Sendable, Equatable {
  package enum Grant: String, Sendable {
    /// RFC 6749 §4.4
    case clientCredentials = "client_credentials"
  }

  /// How the client proves who it is to the token endpoint, RFC 6749 §2.3.1.
  package enum Authentication: String, Sendable {
    /// `client_id` in the body and no secret.
    case none
    /// `client_secret_basic`
    case basic
    /// `client_secret_post`
    case post
  }

  /// Exactly as written, because metadata has to repeat it byte for byte, RFC 8414 §3.3. Nil when `tokenEndpoint` stands alone.
  package var issuer: String?
  /// `issuer` taken apart.
  package var issuerURL: HTTPURL?
  /// Given by hand: it goes before what metadata says. There is an issuer or this.
  package var tokenEndpoint: HTTPURL?
  package var grant: Grant
  package var clientID: String
  /// Present exactly when `authentication` is not `.none`.
  package var clientSecret: SecretReference?
  package var authentication: Authentication
  /// What routes that ask for nothing else get.
  package var target: TokenTarget
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
    clientSecret: SecretReference?, authentication: Authentication, target: TokenTarget = TokenTarget(),
    dpop: Bool = false, allowBearer: Bool = false, allowInsecure: Bool = false, certificateAuthorityFile: String? = nil
  ) {
    self.issuer = issuer
    self.issuerURL = issuerURL
    self.tokenEndpoint = tokenEndpoint
    self.grant = grant
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.authentication = authentication
    self.target = target
    self.dpop = dpop
    self.allowBearer = allowBearer
    self.allowInsecure = allowInsecure
    self.certificateAuthorityFile = certificateAuthorityFile
  }
}
