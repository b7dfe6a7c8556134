package import Cryptography
import HTTPWire

/// How a client proves to an authorization server who it is. RFC 6749 §2.3
package enum ClientAuthentication: Sendable {
  /// `client_id` in the body and no secret.
  case none(clientID: String)
  /// `client_secret_basic`
  case basic(clientID: String, secret: Secret)
  /// `client_secret_post`
  case post(clientID: String, secret: Secret)
  /// `private_key_jwt`, or `client_secret_jwt` if the signer has a shared secret. With `audience` nil the assertion is for
  /// the endpoint it is sent to. RFC 7523 §2.2, OpenID Connect Core 1.0 §9
  case assertion(clientID: String, audience: String?, signer: JWSSigner)
  /// `tls_client_auth`, `self_signed_tls_client_auth`: by the certificate of the connection, which the transport has to
  /// bring. RFC 8705 §2
  case tls(clientID: String)

  static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

  /// Adds itself to a request that is about to be sent.
  func authenticate(_ fields: inout [HTTPField], _ parameters: inout [FormParameter]) {
    switch self {
    case .none(let clientID), .tls(let clientID):
      parameters.append(FormParameter("client_id", clientID))
    case .basic(let clientID, let secret):
      // Both halves are form-encoded before they are joined. RFC 6749 §2.3.1
      let pair = FormURLEncoded.encode(clientID) + ":" + FormURLEncoded.encode(secret.revealedString())
      fields.append(HTTPField(name: "Authorization", value: "Basic \(Base64.encode(pair.utf8))"))
    case .post(let clientID, let secret):
      parameters.append(FormParameter("client_id", clientID))
      parameters.append(FormParameter("client_secret", secret))
    case .assertion(let clientID, let audience, let signer):
      parameters.append(FormParameter("client_id", clientID))
      parameters.append(FormParameter("client_assertion_type", Self.assertionType))
      parameters.append(
        FormParameter(
          "client_assertion", JWTAssertion(client: clientID, audience: audience, signer: signer)))
    }
  }

  /// Whether the connection has to show the client's certificate, and endpoints for such connections are to be used.
  package var usesMutualTLS: Bool {
    if case .tls = self { true } else { false }
  }

  /// What must not show in anything the server says.
  package var secret: Secret? {
    switch self {
    case .none, .tls: nil
    case .basic(_, let secret), .post(_, let secret): secret
    case .assertion(_, _, let signer): signer.secret
    }
  }
}
