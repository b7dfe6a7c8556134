import Cryptography
import HTTPWire

/// A token for one that is presented. RFC 8693
struct TokenExchangeFlow: GrantFlow {
  let request: TokenRequest

  var record: TokenRequestRecord { TokenRequestRecord(grantType: .tokenExchange, clientID: request.client.id) }

  /// RFC 8693 §3
  private enum TokenType: String {
    case accessToken = "urn:ietf:params:oauth:token-type:access_token"
    case refreshToken = "urn:ietf:params:oauth:token-type:refresh_token"
    case idToken = "urn:ietf:params:oauth:token-type:id_token"
    case jwt = "urn:ietf:params:oauth:token-type:jwt"
  }

  /// Whom a token is about.
  private struct Party {
    var subject: String
    var scope: String?
    var grant: SimulatedGrant?
    /// The `act` claim the token has already. RFC 8693 §4.1
    var actor: JSONValue?
  }

  /// RFC 8693 §2.1
  func draft() throws(TokenRefusal) -> Entitlement {
    guard let subject = try party("subject") else { throw TokenRefusal(.requestInvalid, "no subject_token") }
    let actor = try party("actor")
    let requested = TokenType(rawValue: request.form["requested_token_type"] ?? TokenType.accessToken.rawValue)
    guard let requested, requested == .accessToken || requested == .jwt else {
      throw TokenRefusal(.requestInvalid, "this requested_token_type is not issued here")
    }
    return Entitlement(
      clientID: request.client.id, subject: subject.subject, scope: try request.scope(within: subject.scope),
      audiences: try request.audiences(), actor: Self.chain(actor, subject), grant: subject.grant,
      issuedTokenType: requested.rawValue)
  }

  func complete(_ draft: Entitlement, jkt: String?) -> Entitlement { draft }

  /// The newest actor outside, earlier ones inside. RFC 8693 §4.1
  private static func chain(_ actor: Party?, _ subject: Party) -> JSONValue? {
    guard let actor else { return subject.actor }
    return .object([("sub", .string(actor.subject))] + (subject.actor.map { [("act", $0)] } ?? []))
  }

  /// nil if neither the token nor its type is there.
  private func party(_ name: String) throws(TokenRefusal) -> Party? {
    let (text, type) = (request.form["\(name)_token"], request.form["\(name)_token_type"])
    if text == nil, type == nil { return nil }
    guard let text, let type else {
      throw TokenRefusal(.requestInvalid, "\(name)_token and its type belong together")
    }
    let known: Party? =
      switch TokenType(rawValue: type) {
      case .accessToken, .jwt: own(accessToken: text)
      case .refreshToken: request.state.grants.find(text).flatMap { Self.party(of: $0.grant) }
      case .idToken: own(idToken: text)
      case nil: nil
      }
    if let known { return known }
    guard request.settings.acceptsAnySubject else {
      throw TokenRefusal(.subjectInvalid, "the \(name)_token is none that is good here")
    }
    return Party(subject: Self.statedSubject(of: text) ?? "unknown")
  }

  private func own(accessToken text: String) -> Party? {
    guard let token = request.state.tokens.find(text), request.state.isGood(token, at: .authorizationServer) else {
      return nil
    }
    return Party(
      subject: token.subject, scope: token.scope, grant: token.grant.flatMap(request.state.grants.grant),
      actor: token.actor)
  }

  private func own(idToken text: String) -> Party? {
    guard let token = try? SignedAssertion(compact: text),  // whatever is wrong, it is not ours
      token.isSigned(byOneOf: [request.state.tokens.signingKey.publicJWK]), let subject = token["sub"],
      token.audiences.contains(request.client.id),
      (token.claims["exp"]?.int64Value ?? 0) > request.state.now(at: .authorizationServer)
    else { return nil }
    return Party(subject: subject)
  }

  private static func party(of grant: SimulatedGrant) -> Party? {
    grant.isAlive ? Party(subject: grant.subject, scope: grant.scope, grant: grant) : nil
  }

  private static func statedSubject(of text: String) -> String? {
    let segments = text.split(separator: ".", omittingEmptySubsequences: false)
    guard segments.count == 3 else { return nil }
    return Base64URL.decode(segments[1]).flatMap { JSONValue(strictly: $0) }?["sub"]?.stringValue
  }
}
