/// Everything that may change while a simulation runs.
package struct SimulationSettings: Sendable {
  package var authorizationServer = AuthorizationServerSettings()
  package var api = APISettings()

  package init() {}
}

/// What both servers have.
package struct ServerSettings: Sendable {
  package var nonce = NoncePolicy()
  /// How far this server's clock is ahead: in `Date`, in its judgement of `iat` and of expiry, in the tokens it issues.
  package var clockOffsetSeconds = 0
  /// Proofs made longer ago than this are refused. RFC 9449 §11.1
  package var proofAgeSecondsMax = 60
  /// Proofs made further in the future than this are refused.
  package var proofLeadSecondsMax = 10
  package var encoding = BodyEncoding.contentLength
  /// The URL this server believes it has, such as `https://api.example.com/base`, if a proxy in front rewrites it.
  /// It replaces scheme, authority and a path prefix in what `htu` must be.
  package var externalURL: String?
  /// What `Host` may be besides `127.0.0.1:PORT` and `localhost:PORT`.
  package var hosts: [String] = []

  package init() {}
}

package struct AuthorizationServerSettings: Sendable {
  package var server = ServerSettings()
  package var clients: [SimulatedClient] = []
  package var binding = TokenBinding.required
  package var tokenFormat = TokenFormat.jwt
  /// Replaces `DPoP` or `Bearer` in `token_type`.
  package var tokenTypeSpelling: String?
  package var tokenLifetimeSeconds = 300
  package var expiresIn = ExpiresInForm.number
  /// What `audience` and `resource` may name; the first is the default. Empty: the API's origin by default, and anything.
  package var audiences: [String] = []
  /// What may be asked for; nil allows anything.
  package var scopes: [String]?
  /// Whether an unknown audience gets a token for the default one, as Auth0 does, in place of a refusal.
  package var ignoresUnknownAudience = false
  package var refresh = RefreshPolicy()
  package var idToken = IDTokenPresence.always
  /// Who may log in with a password.
  package var users: [SimulatedUser] = []
  /// Whose assertions are taken for a person's consent. RFC 7523 §3
  package var assertionIssuers: [AssertionIssuer] = []
  /// Whether a token exchange takes tokens this server never issued.
  package var acceptsAnySubject = false

  package init() {}

  /// Which answers hold an ID token, if the scope holds `openid`. OpenID Connect Core §12.2
  package enum IDTokenPresence: String, Sendable, CaseIterable {
    case always
    /// The answer to a login, not that to a refresh.
    case first
    case never
  }

  /// Whether tokens are bound to a key. RFC 9449 §5
  package enum TokenBinding: String, Sendable, CaseIterable {
    /// A request without a proof is refused.
    case required
    /// A request without a proof gets a Bearer token.
    case optional
    /// Proofs are not looked at; every token is a Bearer token.
    case ignored
  }

  package enum TokenFormat: String, Sendable, CaseIterable {
    /// RFC 9068
    case jwt
    case opaque
  }

  /// How `expires_in` is written; some servers send a string, it may be absent. RFC 6749 §5.1
  package enum ExpiresInForm: String, Sendable, CaseIterable {
    case number, string, omitted
  }
}

package struct APISettings: Sendable {
  package var server = ServerSettings()
  package var access = APIAccess.dpop
  /// What the `aud` of a token must contain one of; empty: the API's origin, unless the authorization server has a list.
  package var audiences: [String] = []
  /// Refuses requests whose credential is good.
  package var invalidToken: InvalidToken?
  package var rejection = Rejection.afterBody
  /// Whether the token is judged before the proof. It decides whether a client with a bad token and no nonce first
  /// hears `invalid_token` or `use_dpop_nonce`.
  package var judgesTokenFirst = false

  package init() {}

  /// When a refused request is answered.
  package enum Rejection: String, Sendable, CaseIterable {
    case afterBody = "after-body"
    /// As soon as the head is read; the connection is then closed with the body unread, which is an RST to a sender.
    case earlyThenClose = "early-close"
    /// As soon as the head is read; the body is then read and thrown away.
    case earlyThenRead = "early-read"
  }
}

/// What a request to the API must carry.
package enum APIAccess: Sendable, Equatable {
  case none
  /// A bound token of the authorization server and a proof. RFC 9449 §7
  case dpop
  /// One of these tokens, or one of the authorization server's. RFC 6750
  case bearer(tokens: [String] = [])
  /// RFC 7617
  case basic(username: String, password: String)
  case field(name: String, value: String)
  case query(name: String, value: String)
}

/// An API that says a good token is no good.
package struct InvalidToken: Sendable, Equatable {
  /// How many requests more; nil is always.
  package var remaining: Int?
  package var challenge: Challenge

  package init(remaining: Int? = nil, challenge: Challenge = .dpop) {
    self.remaining = remaining
    self.challenge = challenge
  }

  package enum Challenge: String, Sendable, CaseIterable {
    /// `DPoP error="invalid_token"`, RFC 9449 §7.1
    case dpop
    /// `Bearer error="invalid_token"`, RFC 6750 §3.1
    case bearer
    /// A 401 that says nothing
    case bare
  }
}
