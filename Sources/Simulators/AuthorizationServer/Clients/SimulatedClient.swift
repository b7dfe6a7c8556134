package import Cryptography

/// A client the authorization server knows.
package struct SimulatedClient: Sendable, Equatable {
  package var id: String
  package var secret: String?
  /// What verifies its assertions. RFC 7523 §2.2
  package var keys: [JWK]
  /// What the client may use; a public client always uses `none`.
  package var authentication: Set<Authentication>

  package init(
    id: String, secret: String? = nil, keys: [JWK] = [], authentication: Set<Authentication>? = nil
  ) {
    self.id = id
    self.secret = secret
    self.keys = keys
    let secretMethods: Set<Authentication> = secret == nil ? [] : [.basic, .post]
    let methods = secretMethods.union(keys.isEmpty ? [] : [.privateKeyJWT])
    self.authentication = authentication ?? (methods.isEmpty ? [.none] : methods)
  }

  /// Without anything to prove itself with. RFC 6749 §2.1
  var isPublic: Bool { secret == nil && keys.isEmpty }

  /// RFC 7591 §2, OpenID Connect Core §9: `token_endpoint_auth_method`
  package enum Authentication: String, Sendable, CaseIterable {
    case none
    case basic = "client_secret_basic"
    case post = "client_secret_post"
    case secretJWT = "client_secret_jwt"
    case privateKeyJWT = "private_key_jwt"
  }
}

/// Somebody whose signed word stands for a person's consent. RFC 7523 §3
package struct AssertionIssuer: Sendable, Equatable {
  package var issuer: String
  package var keys: [JWK]

  package init(issuer: String, keys: [JWK]) {
    self.issuer = issuer
    self.keys = keys
  }
}

/// Somebody with a password. RFC 6749 §4.3
package struct SimulatedUser: Sendable, Equatable {
  package var username: String
  package var password: String

  package init(username: String, password: String) {
    self.username = username
    self.password = password
  }
}
