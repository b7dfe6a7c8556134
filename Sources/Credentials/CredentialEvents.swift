/// A credential that can't serve because of a secret of the set-up. Its texts are ours and hold no secret.
package struct CredentialTrouble: Sendable, Equatable {
  package let credential: String
  /// A short stable word.
  package let code: String
  package let detail: String
  /// One thing to do.
  package let next: String
}

/// One call of an authorization server, for the log.
package struct OAuthEvent: Sendable, Equatable {
  package enum Step: String, Sendable {
    case discovery, token
  }
  package let credential: String
  package let step: Step
  package let method: String
  /// Without query.
  package let url: String
  /// Of the last answer; nil if there was none.
  package let status: Int?
  package let durationNanoseconds: Int64
  /// How often the request was sent: twice after a nonce challenge.
  package let attempts: Int
  /// An OAuth error code or one of our own; nil if all went well.
  package let errorCode: String?
}
