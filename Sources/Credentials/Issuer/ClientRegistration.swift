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
