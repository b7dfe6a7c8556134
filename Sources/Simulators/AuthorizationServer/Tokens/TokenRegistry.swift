import Cryptography
import HTTPWire
import Locking

/// An access token as the authorization server remembers it.
struct IssuedToken: Sendable, Equatable {
  var number: Int
  var clientID: String
  var subject: String
  /// Who acts for the subject. RFC 8693 §4.1
  var actor: JSONValue?
  /// The grant it was made from; nil if there is none.
  var grant: Int?
  var audiences: [String]
  var scope: String?
  /// The thumbprint of the key it is bound to. RFC 9449 §6
  var jkt: String?
  var issuedAtUnixSeconds: Int64
  var expiresAtUnixSeconds: Int64
  var isRevoked = false
}

/// The access tokens of the authorization server, as JSON Web Tokens or opaque, and the key it signs with.
final class TokenRegistry: Sendable {
  /// Above this number the oldest are forgotten and refused.
  static let tokensMax = 65_536

  private struct State {
    var tokens: [String: IssuedToken] = [:]
    var issued = 0
    var revokedUpTo = 0
  }

  let signingKey: ProofKey
  let keyID: String
  private let seed: Secret
  private let state = Protected(State())

  init(signingKey: ProofKey, seed: Secret) {
    self.signingKey = signingKey
    keyID = String(signingKey.thumbprint.prefix(8))
    self.seed = seed
  }

  /// Makes a token and remembers it.
  func issue(_ token: IssuedToken, issuer: String, format: AuthorizationServerSettings.TokenFormat) throws -> String {
    var token = token
    token.number = state.withLock {
      $0.issued += 1
      return $0.issued
    }
    let identifier = identifier(of: token.number)
    let text =
      switch format {
      case .opaque: identifier
      case .jwt:
        try JSONWebSignature.sign(
          payload: claims(of: token, identifier, issuer).serialised(), type: "at+jwt", keyID: keyID, key: signingKey)
      }
    state.withLock { state in
      if state.tokens.count >= Self.tokensMax {
        let newest = state.issued - Self.tokensMax / 2
        state.tokens = state.tokens.filter { $0.value.number > newest }
      }
      state.tokens[text] = token
    }
    return text
  }

  func find(_ text: String) -> IssuedToken? { state.withLock { $0.tokens[text] } }

  func isRevoked(_ token: IssuedToken) -> Bool { token.isRevoked || state.withLock { token.number <= $0.revokedUpTo } }

  /// Makes one token worthless.
  func revoke(_ text: String) { state.withLock { $0.tokens[text]?.isRevoked = true } }

  /// Makes the API refuse every token issued so far.
  func revokeAll() { state.withLock { $0.revokedUpTo = $0.issued } }

  /// Unguessable without the seed, and the same for equal seeds.
  private func identifier(of number: Int) -> String {
    let message = Array("access token \(number)".utf8)
    return Base64URL.encode(message.withUnsafeBytes { HMACSHA256.authenticate($0, key: seed) })
  }

  /// RFC 9068 §2.2, RFC 9449 §6.1
  private func claims(of token: IssuedToken, _ identifier: String, _ issuer: String) -> JSONValue {
    let audience: JSONValue =
      token.audiences.count == 1 ? .string(token.audiences[0]) : .array(token.audiences.map { .string($0) })
    var members: [(String, JSONValue)] = [
      ("iss", .string(issuer)), ("sub", .string(token.subject)), ("client_id", .string(token.clientID)),
      ("aud", audience), ("iat", .integer(token.issuedAtUnixSeconds)), ("exp", .integer(token.expiresAtUnixSeconds)),
      ("jti", .string(identifier)),
    ]
    if let scope = token.scope { members.append(("scope", .string(scope))) }
    if let actor = token.actor { members.append(("act", actor)) }
    if let jkt = token.jkt { members.append(("cnf", .object([("jkt", .string(jkt))]))) }
    return .object(members)
  }
}
