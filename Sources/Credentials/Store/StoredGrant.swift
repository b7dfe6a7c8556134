package import Cryptography

/// The identity of one grant, unlike that of any other: 22 characters of base64url, 128 random bits. Not a secret.
package struct GrantID: Sendable, Hashable, CustomStringConvertible {
  package let text: String

  /// For an identity that exists already.
  package init(_ text: String) { self.text = text }

  package static func random() -> GrantID { GrantID(Base64URL.encode(SecureRandom.bytes(16))) }

  package var description: String { text }
}

/// What the store keeps of a grant in the clear: enough to list it while the store is locked, nothing that is a secret or
/// says who a person is.
package struct GrantRecord: Sendable, Equatable {
  package let id: GrantID
  package let profile: String
  /// Empty for the account without a name. Unique within the profile.
  package let account: String
  /// Counts changes: whoever changes the grant says which revision it read.
  package var revision: Int64
  /// Counts refresh tokens: the first is 0.
  package var rotation: Int64
  package var isDefault: Bool
  package var tags: [String]
  package var condition: GrantCondition
  /// As the configuration named it when the grant was made; nil if only endpoints were given.
  package var issuer: String?
  package var clientID: String
  /// Serialised origins the grant's secrets may go to. RFC 6454 §6.2
  package var origins: [String]
  /// The scope granted, each once; empty if the server did not say.
  package var scope: [String]
  /// `jkt` of the key the grant is bound to; nil if it is not bound. RFC 9449 §5
  package var proofKeyThumbprint: String?
  package var createdAtUnixSeconds: Int64
  package var lastRefreshAtUnixSeconds: Int64?
  /// The end of the session the person logged in to; nothing is renewed beyond it. Set by a login, never by a refresh.
  package var sessionExpiresAtUnixSeconds: Int64?

  package init(
    id: GrantID, profile: String, account: String, revision: Int64 = 0, rotation: Int64 = 0, isDefault: Bool = false,
    tags: [String] = [], condition: GrantCondition = .usable, issuer: String?, clientID: String, origins: [String],
    scope: [String] = [], proofKeyThumbprint: String? = nil, createdAtUnixSeconds: Int64,
    lastRefreshAtUnixSeconds: Int64? = nil, sessionExpiresAtUnixSeconds: Int64? = nil
  ) {
    self.id = id
    self.profile = profile
    self.account = account
    self.revision = revision
    self.rotation = rotation
    self.isDefault = isDefault
    self.tags = tags
    self.condition = condition
    self.issuer = issuer
    self.clientID = clientID
    self.origins = origins
    self.scope = scope
    self.proofKeyThumbprint = proofKeyThumbprint
    self.createdAtUnixSeconds = createdAtUnixSeconds
    self.lastRefreshAtUnixSeconds = lastRefreshAtUnixSeconds
    self.sessionExpiresAtUnixSeconds = sessionExpiresAtUnixSeconds
  }

  /// What means this grant: the profile alone if it is the default and has no name of its own.
  package var name: AccountName {
    AccountName(profile: profile, account: account.isEmpty && isDefault ? nil : account)
  }
}

/// Whether a grant can still bring tokens, as far as the authorization server has said.
package enum GrantCondition: String, Sendable {
  case usable
  /// The server refused the refresh token: it expired, was revoked, or was used by somebody else. RFC 6749 §5.2
  case refused
  /// A refresh was interrupted between send and store, and the server did not take the old token again.
  case rotationInterrupted = "rotation_interrupted"
}

/// What the store keeps of a grant sealed.
package struct GrantSecrets: Sendable {
  package var refreshToken: Secret?
  /// The one before: it is kept until the next rotation, and masked as long.
  package var previousRefreshToken: Secret?
  package var idToken: Secret?
  /// PKCS #8 of the key the grant is bound to. RFC 5958 §2
  package var proofKey: Secret?
  /// The authorization server's last DPoP nonce, for the first refresh after a restart. RFC 9449 §8.2
  package var authorizationServerNonce: Secret?

  package init(
    refreshToken: Secret?, previousRefreshToken: Secret? = nil, idToken: Secret? = nil, proofKey: Secret? = nil,
    authorizationServerNonce: Secret? = nil
  ) {
    self.refreshToken = refreshToken
    self.previousRefreshToken = previousRefreshToken
    self.idToken = idToken
    self.proofKey = proofKey
    self.authorizationServerNonce = authorizationServerNonce
  }
}

/// A grant, whole.
package struct StoredGrant: Sendable {
  package var record: GrantRecord
  package var secrets: GrantSecrets

  package init(record: GrantRecord, secrets: GrantSecrets) {
    self.record = record
    self.secrets = secrets
  }
}

/// An access token of a grant for one target.
package struct StoredToken: Sendable {
  /// ``TokenTargetKey/text``: audience, resources and scope set in one canonical text.
  package let target: String
  package let accessToken: Secret
  /// As it is presented: `Bearer` or `DPoP`.
  package let scheme: String
  package let receivedAtWallNanoseconds: Int64
  /// Only good within the same boot.
  package let receivedAtBootNanoseconds: Int64
  /// `/proc/sys/kernel/random/boot_id` at receipt.
  package let bootID: String
  /// As the issuer said; nil if it did not.
  package let expiresInSeconds: Int64?

  package init(
    target: String, accessToken: Secret, scheme: String, receivedAtWallNanoseconds: Int64,
    receivedAtBootNanoseconds: Int64, bootID: String, expiresInSeconds: Int64?
  ) {
    self.target = target
    self.accessToken = accessToken
    self.scheme = scheme
    self.receivedAtWallNanoseconds = receivedAtWallNanoseconds
    self.receivedAtBootNanoseconds = receivedAtBootNanoseconds
    self.bootID = bootID
    self.expiresInSeconds = expiresInSeconds
  }
}

/// The note that a refresh token is about to be sent: whoever finds one at start knows that the answer may be lost.
package struct RefreshIntent: Sendable, Equatable {
  package let grant: GrantID
  /// ``GrantRecord/rotation`` of the refresh token that is sent.
  package let rotation: Int64
  package let startedAtUnixSeconds: Int64

  package init(grant: GrantID, rotation: Int64, startedAtUnixSeconds: Int64) {
    self.grant = grant
    self.rotation = rotation
    self.startedAtUnixSeconds = startedAtUnixSeconds
  }
}
