import Cryptography
import HTTPWire

/// What a client learns of the person who logged in. OpenID Connect Core §2
enum IDToken {
  /// How long it is good, whatever access tokens are.
  static let lifetimeSeconds: Int64 = 36_000

  /// Signs one with ES256.
  ///
  /// - Throws: ``CryptographyError`` if it can't be signed.
  static func make(for grant: SimulatedGrant, _ state: SimulationState) throws(CryptographyError) -> String {
    let now = state.now(at: .authorizationServer)
    var members: [(String, JSONValue)] = [
      ("iss", .string(state.issuer)), ("aud", .string(grant.clientID)), ("iat", .integer(now)),
      ("exp", .integer(now + lifetimeSeconds)),
    ]
    members += claims(of: grant)
    if let expiry = grant.sessionExpiryUnixSeconds { members.append(("session_expiry", .integer(expiry))) }
    return try JSONWebSignature.sign(
      payload: JSONValue.object(members).serialised(), type: "JWT", keyID: state.tokens.keyID,
      key: state.tokens.signingKey)
  }

  /// What `/userinfo` says too. OpenID Connect Core §5.1
  static func claims(of grant: SimulatedGrant) -> [(String, JSONValue)] {
    let profile = [("name", grant.profile.name), ("email", grant.profile.email), ("picture", grant.profile.picture)]
    return [("sub", .string(grant.subject))]
      + profile.compactMap { name, value in value.map { (name, .string($0)) } }
  }

  /// Whether an answer holds one.
  ///
  /// - Parameter isFirst: whether the answer is that of a login.
  static func belongs(
    to scope: String?, isFirst: Bool, _ presence: AuthorizationServerSettings.IDTokenPresence
  ) -> Bool {
    guard presence == .always || (presence == .first && isFirst) else { return false }
    return scope?.split(separator: " ").contains("openid") == true
  }
}
