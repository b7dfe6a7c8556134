package import Cryptography

/// How a client proves who it is to the token endpoint, RFC 6749 §2.3 and OpenID Connect Core 1.0 §9.
package enum ClientAuthentication: Sendable, Equatable {
  /// `client_id` in the body and no proof.
  case none
  /// `client_secret_basic`
  case basic(SecretReference)
  /// `client_secret_post`
  case post(SecretReference)
  /// `client_secret_jwt`: an HS256 assertion. `audience` is its `aud`; nil is the token endpoint.
  case clientSecretJWT(SecretReference, audience: String?)
  /// `private_key_jwt`, RFC 7523 §2.2. `audience` is its `aud`; nil is the token endpoint.
  case privateKeyJWT(SigningKeyReference, audience: String?)
  /// `tls_client_auth` or `self_signed_tls_client_auth`, RFC 8705 §2, with the profile's client certificate.
  case tls

  /// As `client_auth` spells it.
  package var name: String {
    switch self {
    case .none: "none"
    case .basic: "basic"
    case .post: "post"
    case .clientSecretJWT: "client_secret_jwt"
    case .privateKeyJWT: "private_key_jwt"
    case .tls: "tls"
    }
  }
}

/// A private key that signs assertions, and what their header says of it.
package struct SigningKeyReference: Sendable, Equatable {
  /// A PEM or JWK text.
  package var privateKey: SecretReference
  /// `kid`; nil is that of the JWK, if any.
  package var keyID: String?
  /// `alg`; nil is what fits the key.
  package var algorithm: JWSAlgorithm?

  package init(privateKey: SecretReference, keyID: String? = nil, algorithm: JWSAlgorithm? = nil) {
    self.privateKey = privateKey
    self.keyID = keyID
    self.algorithm = algorithm
  }
}

/// A certificate to show in TLS handshakes, and its key.
package struct ClientCertificate: Sendable, Hashable {
  /// Absolute path of PEM certificates, our own first.
  package var chainFile: String
  /// Absolute path of the PEM private key.
  package var keyFile: String

  package init(chainFile: String, keyFile: String) {
    self.chainFile = chainFile
    self.keyFile = keyFile
  }
}
