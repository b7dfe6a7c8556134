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

  /// Adds itself to a request that is about to be sent. Called anew for every send.
  func authenticate(_ fields: inout [HTTPField], _ parameters: inout [FormParameter]) {
    switch self {
    case .none(let clientID):
      parameters.append(FormParameter("client_id", clientID))
    case .basic(let clientID, let secret):
      // Both halves are form-encoded before they are joined. RFC 6749 §2.3.1
      let pair = FormURLEncoded.encode(clientID) + ":" + FormURLEncoded.encode(secret.revealedString())
      fields.append(HTTPField(name: "Authorization", value: "Basic \(Base64.encode(pair.utf8))"))
    case .post(let clientID, let secret):
      parameters.append(FormParameter("client_id", clientID))
      parameters.append(FormParameter("client_secret", secret))
    }
  }

  /// What must not show in anything the server says.
  package var secret: Secret? {
    switch self {
    case .none: nil
    case .basic(_, let secret), .post(_, let secret): secret
    }
  }
}
