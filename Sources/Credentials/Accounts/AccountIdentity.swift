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
