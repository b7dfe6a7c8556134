package import Cryptography
package import HTTPWire

/// What can be asked of the accounts and their credentials: the admin API's operations, and the same in process for a
/// command when no daemon runs. Any task.
package protocol AccountService: Sendable {
  /// Every account of the store, and every profile that needs one and has none.
  func accounts() async throws(AccountFailure) -> [AccountStatus]
  func account(_ name: AccountName) async throws(AccountFailure) -> AccountStatus

  /// Stores a grant that was obtained elsewhere; it is proved by a refresh unless `isOffline`.
  ///
  /// - Parameter replace: an account of this name is replaced; otherwise it is a failure.
  func importGrant(
    _ grant: ImportedGrant, as name: AccountName, replace: Bool, isOffline: Bool
  ) async throws(AccountFailure) -> AccountStatus

  func makeDefault(_ name: AccountName) async throws(AccountFailure) -> AccountStatus
  func tag(_ name: AccountName, adding: [String], removing: [String]) async throws(AccountFailure) -> AccountStatus
  /// Removes the account from this machine; what the server knows of it stays.
  func remove(_ name: AccountName) async throws(AccountFailure)

  /// Who the account is, by its ID token.
  func identity(_ name: AccountName) async throws(AccountFailure) -> AccountIdentity

  /// The credential itself, for scripts. Only of a profile with `allow_export: true`.
  func token(_ name: AccountName, _ ask: TokenAsk) async throws(AccountFailure) -> ExportedToken
  /// The fields a request would carry, a proof among them. Only of a profile with `allow_export: true`.
  func fields(_ name: AccountName, _ ask: FieldsAsk) async throws(AccountFailure) -> [ExportedField]

  func unlock(passphrase: Secret) async throws(AccountFailure)
  func lock() async throws(AccountFailure)
  /// nil if the store needs no passphrase.
  func lockStatus() async -> LockStatus?
}

/// A grant as another program knows it.
package struct ImportedGrant: Sendable {
  package var refreshToken: Secret
  package var idToken: Secret?
  /// PEM (PKCS #8) or a private JWK of the P-256 key the refresh token is bound to. RFC 9449 §5
  package var proofKey: Secret?
  /// Empty if it is not known.
  package var scope: [String]
  package var tags: [String]
  /// Where the other program used it: compared with the profile's when it is there.
  package var clientID: String?
  package var issuer: String?

  package init(
    refreshToken: Secret, idToken: Secret? = nil, proofKey: Secret? = nil, scope: [String] = [], tags: [String] = [],
    clientID: String? = nil, issuer: String? = nil
  ) {
    self.refreshToken = refreshToken
    self.idToken = idToken
    self.proofKey = proofKey
    self.scope = scope
    self.tags = tags
    self.clientID = clientID
    self.issuer = issuer
  }
}

/// Which token; what is nil or empty is as the profile has it.
package struct TokenAsk: Sendable {
  package var audience: String?
  package var resource: [String] = []
  package var scope: [String] = []
  /// The token must live at least this long from now.
  package var minimumLifetime: Duration?

  package init() {}
}

package struct FieldsAsk: Sendable {
  package var method: String
  package var url: HTTPURL
  package var token = TokenAsk()

  package init(method: String, url: HTTPURL) {
    self.method = method
    self.url = url
  }
}

package struct ExportedToken: Sendable {
  package let accessToken: Secret
  /// `Bearer` or `DPoP`; nil for a static credential of another kind.
  package let scheme: String?
  package let expiresAtUnixSeconds: Int64?

  package init(accessToken: Secret, scheme: String?, expiresAtUnixSeconds: Int64?) {
    self.accessToken = accessToken
    self.scheme = scheme
    self.expiresAtUnixSeconds = expiresAtUnixSeconds
  }
}

package struct ExportedField: Sendable {
  package let name: String
  package let value: Secret

  package init(name: String, value: Secret) {
    self.name = name
    self.value = value
  }
}

/// Who an account is. From an ID token: texts of the issuer. OpenID Connect Core 1.0 §5.1
package struct AccountIdentity: Sendable, Equatable {
  package var issuer: String?
  package var subject: String?
  package var name: String?
  package var preferredUsername: String?
  package var email: String?
  package var picture: String?

  package init() {}
}

/// An account for `status`, `credentials list` and the console. Holds no secret.
package struct AccountStatus: Sendable {
  package enum State: String, Sendable {
    /// Nothing has been asked for yet.
    case idle
    case ready
    /// Near its end, or past it, and to be replaced with the next request.
    case expiring
    case refreshing
    /// No token, and the issuer can't be reached.
    case unavailable
    /// No token, because of the set-up.
    case refused
    case loginRequired = "login_required"
    case locked
    /// The session the person logged in to is over.
    case sessionExpired = "session_expired"
    /// The grant is bound to a key that is not there.
    case keyMissing = "key_missing"
    /// The key that is there is not the one the grant is bound to.
    case keyMismatch = "key_mismatch"
    case rotationInterrupted = "rotation_interrupted"
    /// A sealed field does not open, or the store can't be used.
    case storeFailed = "store_failed"
  }

  /// A token the account gives, for one target.
  package struct Target: Sendable {
    package var audience: String?
    package var resource: [String]
    package var scope: [String]
    package var state: State
    package var expiresAtUnixSeconds: Int64?

    package init(audience: String?, resource: [String], scope: [String], state: State, expiresAtUnixSeconds: Int64?) {
      self.audience = audience
      self.resource = resource
      self.scope = scope
      self.state = state
      self.expiresAtUnixSeconds = expiresAtUnixSeconds
    }
  }

  package struct Failure: Sendable, Equatable {
    /// An OAuth error code, or one of our own.
    package let code: String
    package let detail: String
    package let atUnixSeconds: Int64

    package init(code: String, detail: String, atUnixSeconds: Int64) {
      self.code = code
      self.detail = detail
      self.atUnixSeconds = atUnixSeconds
    }
  }

  /// When the first of its tokens ends.
  package var expiresAtUnixSeconds: Int64? { targets.compactMap(\.expiresAtUnixSeconds).min() }

  package var name: AccountName
  /// The grant type or kind of secret: `authorization_code`, `client_credentials`, `file`, …
  package var kind: String
  package var state: State
  /// A token can be sent now.
  package var canServe: Bool
  package var isDefault = false
  package var tags: [String] = []
  package var grant: GrantID?
  package var issuer: String?
  package var clientID: String?
  package var scope: [String] = []
  package var proofKeyThumbprint: String?
  package var createdAtUnixSeconds: Int64?
  package var lastRefreshAtUnixSeconds: Int64?
  package var sessionExpiresAtUnixSeconds: Int64?
  package var targets: [Target] = []
  /// The last failure, if no success came after it.
  package var lastFailure: Failure?
  /// One thing to do, or what happens by itself.
  package var next: String
  /// Why it can't get another token, if that is known; for the user.
  package var detail: String?
  package var warnings: [String] = []

  package init(name: AccountName, kind: String, state: State, canServe: Bool, next: String) {
    self.name = name
    self.kind = kind
    self.state = state
    self.canServe = canServe
    self.next = next
  }
}

package struct LockStatus: Sendable, Equatable {
  package var isLocked: Bool
  /// When it locks by itself, in so many seconds; nil: not by time.
  package var locksInSeconds: Int64?

  package init(isLocked: Bool, locksInSeconds: Int64?) {
    self.isLocked = isLocked
    self.locksInSeconds = locksInSeconds
  }
}

/// Why an operation on accounts failed. Its texts are for the user and hold no secret.
package struct AccountFailure: Error, Sendable, Equatable {
  package enum Kind: Sendable {
    /// What was asked for makes no sense.
    case invalid
    case notFound
    /// It exists already, or somebody else changed it.
    case conflict
    /// The profile does not allow it.
    case forbidden
    case locked
    case loginRequired
    /// The issuer can't be reached; later it may.
    case unavailable
    /// The issuer says no.
    case refused
    /// The store can't be read or written.
    case storage
  }

  package let kind: Kind
  /// A short stable word.
  package let code: String
  package let detail: String
  /// One thing to do.
  package let next: String

  package init(_ kind: Kind, code: String, detail: String, next: String) {
    self.kind = kind
    self.code = code
    self.detail = detail
    self.next = next
  }
}
