package import Cryptography

/// A token for whom a signed assertion names. RFC 7523 §2.1
package struct JWTBearerGrant: TokenGrant {
  package enum Assertion: Sendable {
    /// Made by somebody else.
    case given(Secret)
    /// Ours, another for every send.
    case signed(JWTAssertion)
  }

  package static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"

  package let assertion: Assertion
  package let target: GrantTarget
  package var parameters: [FormParameter] {
    switch assertion {
    case .given(let secret): [FormParameter("assertion", secret)]
    case .signed(let signed): [FormParameter("assertion", signed)]
    }
  }

  package init(assertion: Assertion, target: GrantTarget = GrantTarget()) {
    self.assertion = assertion
    self.target = target
  }
}
