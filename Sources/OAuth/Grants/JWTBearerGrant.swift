package import Cryptography

/// A token for whom a signed assertion names. RFC 7523 §2.1
package struct JWTBearerGrant: TokenGrant {
  package static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  package let assertion: Secret
  package let target: GrantTarget
  package var parameters: [FormParameter] { [FormParameter("assertion", assertion)] }

  package init(assertion: Secret, target: GrantTarget = GrantTarget()) {
    self.assertion = assertion
    self.target = target
  }
}
