package import Cryptography

/// A token for a user's name and password, for servers that know nothing better. RFC 6749 §4.3
package struct ResourceOwnerPasswordGrant: TokenGrant {
  package static let grantType = "password"

  package let username: String
  package let password: Secret
  package let target: GrantTarget
  package var parameters: [FormParameter] {
    [FormParameter("username", username), FormParameter("password", password)]
  }

  package init(username: String, password: Secret, target: GrantTarget = GrantTarget()) {
    self.username = username
    self.password = password
    self.target = target
  }
}
