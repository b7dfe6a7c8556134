/// What becomes of a refresh token that is used. RFC 6749 §6, RFC 9700 §4.14.2
package struct RefreshPolicy: Sendable, Equatable {
  package var rotation = Rotation.always
  /// How long a used token still works beside its successor; 0: it is dead at once.
  package var overlapSeconds = 0
  /// How long a token that is not used stays good; nil is for ever.
  package var lifetimeSeconds: Int?
  /// A broken server: uses the token up before it looks at the proof, so that a nonce challenge costs the token.
  package var isConsumedBeforeNonce = false

  package init() {}

  package enum Rotation: String, Sendable, CaseIterable {
    /// Every refresh gives a new token and uses the old one up.
    case always
    /// The token stays; the answer does not name it.
    case never
    /// The token stays; the answer names it again.
    case same
  }
}
