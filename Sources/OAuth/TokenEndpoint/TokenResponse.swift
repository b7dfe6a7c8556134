package import Cryptography
package import HTTPWire

/// A successful answer of a token endpoint. RFC 6749 §5.1
package struct TokenResponse: Sendable {
  package static let accessTokenBytesMax = 16_384
  package static let refreshTokenBytesMax = 16_384
  /// A longer one is as good as none: nothing stands or falls with it.
  package static let idTokenBytesMax = 65_536
  package static let scopeBytesMax = 8_192
  static let tokenTypeURIBytesMax = 512

  package let accessToken: Secret
  package let tokenType: TokenType
  /// nil if the server did not say, or said something that is no number: unknown, never endless.
  package let expiresInSeconds: Int64?
  /// nil if it is what was asked for. RFC 6749 §3.3
  package let scope: String?
  /// nil if the one that was used before stays valid, or if there is none. RFC 6749 §6
  package let refreshToken: Secret?
  /// As it came, with nothing checked. OpenID Connect Core 1.0 §3.1.3.3
  package let idToken: Secret?
  /// The URI for what was issued, in answers to an exchange. RFC 8693 §2.2.1
  package let issuedTokenType: String?

  /// Judges the answer to a token request, whatever the grant.
  ///
  /// - Parameters:
  ///   - binding: what was asked for. Another type of token is refused: fail closed.
  ///   - allowsNotApplicable: whether something that is no access token was asked for; only then it is taken.
  /// - Throws: ``OAuthError``. The refresh token of an answer that is refused may be the only one that is left:
  ///   ``refreshToken(of:)``.
  package init(
    judging response: HTTPResponse, binding: TokenBinding, allowsNotApplicable: Bool = false
  ) throws(OAuthError) {
    let json = try Self.success(of: response)
    guard let token = json["access_token"]?.stringValue, !token.isEmpty else {
      throw .malformedAnswer(.accessTokenMissing)
    }
    guard token.utf8.count <= Self.accessTokenBytesMax else { throw .malformedAnswer(.accessTokenTooLong) }
    // A server that leaves out the required member means what nearly all tokens are. With DPoP that is a mismatch.
    tokenType = TokenType(json["token_type"]?.stringValue ?? "Bearer")
    if allowsNotApplicable, tokenType == .notApplicable {
      guard AccessTokenSyntax.isVisible(token) else { throw .tokenNotSendable }
    } else {
      try Self.check(token, tokenType, binding)
    }
    accessToken = Secret(utf8: token)
    expiresInSeconds = json["expires_in"].flatMap(Self.seconds)
    scope = json["scope"]?.stringValue
    guard scope?.utf8.count ?? 0 <= Self.scopeBytesMax else { throw .malformedAnswer(.scopeTooLong) }
    refreshToken = try Self.refreshToken(in: json)
    idToken = Self.text("id_token", in: json, bytesMax: Self.idTokenBytesMax).map { Secret(utf8: $0) }
    issuedTokenType = Self.text("issued_token_type", in: json, bytesMax: Self.tokenTypeURIBytesMax)
  }
  /// Whether the access token is for one of the APIs it was asked for; nil if it does not say, or if none was named.
  ///
  /// There are servers that pass over an audience they don't know and give a token for another one. One that serves a
  /// `resource` may give it a name of its own, so only the answer to an `audience` is certain. RFC 8707 §2.2
  package func names(audience: String?, resources: [String]) -> Bool? {
    let wanted = (audience.map { [$0] } ?? []) + resources
    guard !wanted.isEmpty, let named = AccessTokenSyntax.audiences(of: accessToken.revealedString()) else { return nil }
    return wanted.contains { named.contains($0) }
  }

  /// The refresh token of a successful answer, whatever else is wrong with it: the one that was sent may be spent.
  package static func refreshToken(of response: HTTPResponse) -> Secret? {
    // What is no success, or holds none that can be kept, has none.
    (try? success(of: response)).flatMap { try? refreshToken(in: $0) }
  }

  /// The JSON object of an answer that reports no error.
  private static func success(of response: HTTPResponse) throws(OAuthError) -> JSONValue {
    let json = try? JSONValue(parsing: response.body)  // an error answer need not be JSON
    // There are servers that report errors with status 200.
    guard response.status == 200, json?["error"]?.stringValue == nil else {
      throw .endpoint(EndpointError(response, json: json))
    }
    guard let json, json.objectValue != nil else { throw .malformedAnswer(.notJSON) }
    return json
  }

  private static func refreshToken(in json: JSONValue) throws(OAuthError) -> Secret? {
    guard let text = json["refresh_token"]?.stringValue, !text.isEmpty else { return nil }
    guard text.utf8.count <= refreshTokenBytesMax else { throw .malformedAnswer(.refreshTokenTooLong) }
    return Secret(utf8: text)
  }

  /// A member that is no more than what a line can show; anything else is as good as absent.
  private static func text(_ name: String, in json: JSONValue, bytesMax: Int) -> String? {
    guard let text = json[name]?.stringValue, !text.isEmpty, text.utf8.count <= bytesMax,
      AccessTokenSyntax.isVisible(text)
    else { return nil }
    return text
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
