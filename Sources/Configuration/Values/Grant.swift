extension ClientProfile {
  /// How tokens are asked for, with what that takes.
  package enum Grant: Sendable, Equatable {
    /// A login by browser; its refresh token is in the store. RFC 6749 §4.1
    case authorizationCode
    /// A login on another device; its refresh token is in the store. RFC 8628
    case deviceCode
    /// RFC 6749 §4.4
    case clientCredentials
    /// RFC 7523 §2.1
    case jwtBearer(JWTBearerAssertion)
    /// RFC 8693
    case tokenExchange(TokenExchangeProfile)
    /// A login by user name and password; its refresh token, if any, is in the store. RFC 6749 §4.3
    case password(PasswordProfile)

    /// As the configuration spells it.
    package var name: String {
      switch self {
      case .authorizationCode: "authorization_code"
      case .deviceCode: "device_code"
      case .clientCredentials: "client_credentials"
      case .jwtBearer: "jwt_bearer"
      case .tokenExchange: "token_exchange"
      case .password: "password"
      }
    }

    /// Whether what it gives lives in the store, under an account.
    package var isLogin: Bool {
      switch self {
      case .authorizationCode, .deviceCode, .password: true
      case .clientCredentials, .jwtBearer, .tokenExchange: false
      }
    }
  }
}

/// The assertion of a JWT bearer grant, RFC 7523 §2.1.
package enum JWTBearerAssertion: Sendable, Equatable {
  /// Somebody else makes it; read for each token request.
  case given(SecretReference)
  /// Made here for each token request.
  case signed(SignedAssertion)
}

/// What a JWT says that proofd signs to get a token, RFC 7523 §3.
package struct SignedAssertion: Sendable, Equatable {
  /// `iss`
  package var issuer: String
  /// `sub`
  package var subject: String
  /// `aud`; nil is the token endpoint.
  package var audience: String?
  /// From `iat` to `exp`.
  package var lifetime: Duration
  package var key: SigningKeyReference
  /// More claims, in the order written, each name once and none that proofd sets.
  package var claims: [AssertionClaim]

  package static let lifetimeDefault = Duration.seconds(60)
  package static let lifetimeRange = Duration.seconds(10)...Duration.seconds(3600)
  /// Claims that proofd sets itself.
  package static let reservedClaims: Set = ["iss", "sub", "aud", "exp", "iat", "nbf", "jti"]

  package init(
    issuer: String, subject: String, audience: String? = nil, lifetime: Duration = Self.lifetimeDefault,
    key: SigningKeyReference, claims: [AssertionClaim] = []
  ) {
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.lifetime = lifetime
    self.key = key
    self.claims = claims
  }
}

/// A claim whose value is a text.
package struct AssertionClaim: Sendable, Hashable {
  package var name: String
  package var value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

/// Which token is exchanged, RFC 8693 §2.1.
package struct TokenExchangeProfile: Sendable, Equatable {
  package enum Subject: Sendable, Equatable {
    case token(SecretReference)
    /// What another credential gives; never, over however many steps, this one.
    case credential(CredentialReference)
  }

  package struct Actor: Sendable, Equatable {
    package var token: SecretReference
    /// A token type URI, RFC 8693 §3.
    package var tokenType: String

    package init(token: SecretReference, tokenType: String) {
      self.token = token
      self.tokenType = tokenType
    }
  }

  package var subject: Subject
  /// A token type URI, RFC 8693 §3.
  package var subjectTokenType: String
  package var actor: Actor?
  /// A token type URI; nil leaves it to the server.
  package var requestedTokenType: String?

  package static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"

  package init(
    subject: Subject, subjectTokenType: String = Self.accessTokenType, actor: Actor? = nil,
    requestedTokenType: String? = nil
  ) {
    self.subject = subject
    self.subjectTokenType = subjectTokenType
    self.actor = actor
    self.requestedTokenType = requestedTokenType
  }
}

/// Whose password is used when there is no refresh token that works, RFC 6749 §4.3.
package struct PasswordProfile: Sendable, Equatable {
  package var username: String
  package var password: SecretReference

  package init(username: String, password: SecretReference) {
    self.username = username
    self.password = password
  }
}
