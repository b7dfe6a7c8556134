package import Cryptography

/// A token from the refresh token that an earlier answer brought. RFC 6749 §6
///
/// An answer that brings no other refresh token leaves this one valid. A scope is a part of what was granted, or, better,
/// left out: there are servers that refuse any. A DPoP-bound refresh token of a public client asks for a proof by the key
/// it is bound to. RFC 9449 §5
package struct RefreshTokenGrant: TokenGrant {
  package static let grantType = "refresh_token"

  package let refreshToken: Secret
  package let target: GrantTarget
  package var parameters: [FormParameter] { [FormParameter("refresh_token", refreshToken)] }

  package init(refreshToken: Secret, target: GrantTarget = GrantTarget()) {
    self.refreshToken = refreshToken
    self.target = target
  }
}
