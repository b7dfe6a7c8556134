package import Cryptography
package import HTTPWire

/// A successful answer of a token endpoint. RFC 6749 §5.1
package struct TokenResponse: Sendable {
  package static let accessTokenBytesMax = 16_384

  package let accessToken: Secret
  package let tokenType: TokenType
  /// nil if the server did not say, or said something that is no number: unknown, never endless.
  package let expiresInSeconds: Int64?
  /// nil if it is what was asked for. RFC 6749 §3.3
  package let scope: String?

  /// Judges the answer to a token request, whatever the grant.
  ///
  /// - Parameters:
  ///   - binding: what was asked for. Another type of token is refused: fail closed.
  /// - Throws: ``OAuthError``
  package init(judging response: HTTPResponse, binding: TokenBinding) throws(OAuthError) {
    let json = try? JSONValue(parsing: response.body)  // an error answer need not be JSON
    // There are servers that report errors with status 200.
    guard response.status == 200, json?["error"]?.stringValue == nil else {
      throw .endpoint(EndpointError(response, json: json))
    }
    guard let json, json.objectValue != nil else { throw .malformedAnswer(.notJSON) }
    guard let token = json["access_token"]?.stringValue, !token.isEmpty else {
      throw .malformedAnswer(.accessTokenMissing)
    }
    guard token.utf8.count <= Self.accessTokenBytesMax else { throw .malformedAnswer(.accessTokenTooLong) }
    // A server that leaves out the required member means what nearly all tokens are. With DPoP that is a mismatch.
    tokenType = TokenType(json["token_type"]?.stringValue ?? "Bearer")
    try Self.check(token, tokenType, binding)
    accessToken = Secret(utf8: token)
    expiresInSeconds = json["expires_in"].flatMap(Self.seconds)
    scope = json["scope"]?.stringValue
  }

  private static func check(_ token: String, _ type: TokenType, _ binding: TokenBinding) throws(OAuthError) {
    switch (binding, type) {
    case (.dpop(let key, _), .dpop):
      guard AccessTokenSyntax.isToken68(token) else { throw .tokenNotSendable }
      if let thumbprint = AccessTokenSyntax.confirmationThumbprint(token), thumbprint != key.thumbprint {
        throw .boundToAnotherKey
      }
    case (.bearer, .bearer), (.dpop(_, allowBearer: true), .bearer):
      guard AccessTokenSyntax.isVisible(token) else { throw .tokenNotSendable }
    case (.dpop, _): throw .tokenTypeMismatch(wanted: .dpop, received: type)
    case (.bearer, _): throw .tokenTypeMismatch(wanted: .bearer, received: type)
    }
  }

  /// Seconds as a number or, as some servers write it, as a numeric string.
  private static func seconds(_ value: JSONValue) -> Int64? {
    let text: String
    switch value {
    case .number(let number): text = number
    case .string(let string): text = string
    default: return nil
    }
    guard let seconds = Double(text), seconds.isFinite else { return nil }
    return Int64(min(max(seconds, 0), Double(Int32.max)))
  }
}

/// What kind of token is asked for.
package enum TokenBinding: Sendable {
  case bearer
  /// Bound to `key` by DPoP. With `allowBearer` a server that does not bind tokens is put up with.
  case dpop(key: ProofKey, allowBearer: Bool)

  package var proofKey: ProofKey? {
    switch self {
    case .bearer: nil
    case .dpop(let key, _): key
    }
  }
}
