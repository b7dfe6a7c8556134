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
