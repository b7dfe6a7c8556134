package import Cryptography
package import HTTPWire

/// Asks an authorization server to let go of a token. RFC 7009 §2
package struct RevocationRequest: Sendable {
  package enum Hint: String, Sendable {
    case accessToken = "access_token"
    case refreshToken = "refresh_token"
  }

  package enum Outcome: Sendable, Equatable {
    /// The token is of no use any more, or never was: a server that does not know it says the same.
    case revoked
    /// The server can't revoke tokens of this kind: this one serves until it expires. RFC 7009 §2.2.1
    case unsupportedTokenType
  }

  package let token: Secret
  package let hint: Hint?

  package init(token: Secret, hint: Hint?) {
    self.token = token
    self.hint = hint
  }

  /// RFC 7009 §2.1
  package func request(endpoint: HTTPURL, authentication: ClientAuthentication) -> EndpointRequest {
    var form = [FormParameter("token", token)]
    if let hint { form.append(FormParameter("token_type_hint", hint.rawValue)) }
    return EndpointRequest(endpoint: endpoint, parameters: form, authentication: authentication)
  }

  /// - Throws: ``OAuthError/endpoint(_:)``; whether the token is still valid is unknown then.
  /// RFC 7009 §2.2
  package func judge(_ response: HTTPResponse) throws(OAuthError) -> Outcome {
    let json = try? JSONValue(parsing: response.body)  // the body of a success means nothing and may be anything
    let error = EndpointError(response, json: json)
    if response.status == 200, json?["error"]?.stringValue == nil { return .revoked }
    if error.code == "unsupported_token_type" { return .unsupportedTokenType }
    throw .endpoint(error)
  }
}
