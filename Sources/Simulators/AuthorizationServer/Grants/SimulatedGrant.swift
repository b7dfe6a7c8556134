/// What one login gave a client: a family of refresh tokens and the access tokens made with them. RFC 6749 §1.5
package struct SimulatedGrant: Sendable, Equatable {
  /// Counted from 1.
  package let id: Int
  package let clientID: String
  package let subject: String
  package let scope: String?
  /// What its access tokens may be for, the default first; empty: whatever the settings allow.
  package let audiences: [String]
  package let profile: Profile
  /// The `session_expiry` of its ID tokens. Seconds since 1970.
  package let sessionExpiryUnixSeconds: Int64?

  /// The thumbprint of the key its refresh tokens are bound to. RFC 9449 §5
  package internal(set) var jkt: String?
  /// The number of the newest refresh token; the first is 0.
  package internal(set) var rotation = 0
  /// How often a refresh token of it was accepted.
  package internal(set) var refreshCount = 0
  /// How often a refresh token came again that had been used before. RFC 9700 §4.14.2
  package internal(set) var reuseCount = 0
  /// nil while its tokens are good.
  package internal(set) var revocation: Revocation?

  package var isAlive: Bool { revocation == nil }

  /// What ID tokens and `/userinfo` say of the person. OpenID Connect Core §5.1
  package struct Profile: Sendable, Equatable {
    package var name: String?
    package var email: String?
    package var picture: String?

    package init(name: String? = nil, email: String? = nil, picture: String? = nil) {
      self.name = name
      self.email = email
      self.picture = picture
    }
  }

  package enum Revocation: String, Sendable, CaseIterable {
    /// A used refresh token came again.
    case reuse
    /// The client asked for it. RFC 7009
    case client
    /// A test asked for it.
    case admin
  }
}

/// How a grant begins that no login made.
package struct GrantSeed: Sendable {
  /// nil: the first client there is.
  package var clientID: String?
  package var subject = "user-1"
  package var scope: String? = "openid profile email offline_access"
  package var audiences: [String] = []
  /// The thumbprint of the key it is bound to; nil: a public client's is bound by its first refresh.
  package var jkt: String?
  /// Makes a key and binds the grant to it.
  package var makesKey = false
  package var profile = SimulatedGrant.Profile(
    name: "Ada Example", email: "ada@example.com", picture: "https://example.com/ada.png")
  package var sessionExpiryUnixSeconds: Int64?

  package init(clientID: String? = nil, jkt: String? = nil, makesKey: Bool = false) {
    self.clientID = clientID
    self.jkt = jkt
    self.makesKey = makesKey
  }
}
