import HTTPWire

/// The answer of the token endpoint to a request it grants. RFC 6749 §5.1, RFC 9449 §5
struct TokenAnswer {
  let entitlement: Entitlement
  let settings: AuthorizationServerSettings
  let state: SimulationState

  /// Issues the tokens.
  ///
  /// - Parameter jkt: the key the access token is bound to; nil makes it a Bearer token.
  /// - Throws: ``CryptographyError`` if a token can't be signed.
  func make(jkt: String?) throws -> Answer {
    let now = state.now(at: .authorizationServer)
    let token = IssuedToken(
      number: 0, clientID: entitlement.clientID, subject: entitlement.subject, actor: entitlement.actor,
      grant: entitlement.grant?.id,
      audiences: entitlement.audiences, scope: entitlement.scope, jkt: jkt, issuedAtUnixSeconds: now,
      expiresAtUnixSeconds: now + Int64(settings.tokenLifetimeSeconds))
    let text = try state.tokens.issue(token, issuer: state.issuer, format: settings.tokenFormat)
    var members: [(String, JSONValue)] = [
      ("access_token", .string(text)),
      ("token_type", .string(settings.tokenTypeSpelling ?? (jkt == nil ? "Bearer" : "DPoP"))),
    ]
    switch settings.expiresIn {
    case .number: members.append(("expires_in", .integer(Int64(settings.tokenLifetimeSeconds))))
    case .string: members.append(("expires_in", .string("\(settings.tokenLifetimeSeconds)")))
    case .omitted: break
    }
    if let scope = entitlement.scope { members.append(("scope", .string(scope))) }
    if let refreshToken = entitlement.refreshToken { members.append(("refresh_token", .string(refreshToken))) }
    if let type = entitlement.issuedTokenType {
      members.append(("issued_token_type", .string(type)))
    } else if let grant = entitlement.grant,
      IDToken.belongs(to: entitlement.scope, isFirst: entitlement.isFirst, settings.idToken)
    {
      members.append(("id_token", .string(try IDToken.make(for: grant, state))))
    }
    return .json(200, .object(members))
  }
}
