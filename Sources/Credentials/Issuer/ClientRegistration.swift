package import Cryptography
package import HTTPWire
package import OAuth

/// A client as its authorization server knows it. RFC 6749 §2
package struct ClientRegistration: Sendable {
  /// Where the token endpoint is.
  package enum Server: Sendable {
    /// To be found through the issuer's metadata.
    case issuer(Issuer)
    /// Given by hand.
    case tokenEndpoint(HTTPURL)
  }

  package enum Authentication: Sendable {
    case none
    /// `client_secret_basic`
    case basic(SecretOrigin)
    /// `client_secret_post`
    case post(SecretOrigin)
    /// `client_secret_jwt`; without `audience` an assertion is for the endpoint it is sent to. OpenID Connect Core 1.0 §9
    case clientSecretJWT(SecretOrigin, audience: String?)
    /// `private_key_jwt`. RFC 7523 §2.2
    case privateKeyJWT(SigningKeyOrigin, audience: String?)
    /// The certificate of the connection, which the transport brings. RFC 8705 §2
    case tls
  }

  /// A private key as PEM or JWK, and how it signs.
  package struct SigningKeyOrigin: Sendable {
    package let text: SecretOrigin
    /// nil: the key's own, if it has one.
    package let keyID: String?
    /// nil: the usual one of the key's kind.
    package let algorithm: JWSAlgorithm?

    package init(text: SecretOrigin, keyID: String?, algorithm: JWSAlgorithm?) {
      self.text = text
      self.keyID = keyID
      self.algorithm = algorithm
    }
  }

  /// Whether tokens are bound to a key. RFC 9449
  package enum Binding: Sendable {
    case bearer
    case dpop(allowBearer: Bool)
  }

  /// The credential's name.
  package let name: String
  package let server: Server
  package let clientID: String
  package let authentication: Authentication
  package let binding: Binding

  package init(
    name: String, server: Server, clientID: String, authentication: Authentication, binding: Binding
  ) {
    self.name = name
    self.server = server
    self.clientID = clientID
    self.authentication = authentication
    self.binding = binding
  }
}
