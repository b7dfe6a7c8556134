package import Cryptography
import HTTPWire

/// One parameter of a request to an endpoint. It prints its name, never its value.
package struct FormParameter: Sendable {
  package enum Value: Sendable {
    case text(String)
    /// A token, a password, an assertion that somebody else made.
    case secret(Secret)
    /// Made when the request is sent.
    case assertion(JWTAssertion)
  }

  package let name: String
  package let value: Value

  package init(_ name: String, _ text: String) {
    self.name = name
    value = .text(text)
  }

  package init(_ name: String, _ secret: Secret) {
    self.name = name
    value = .secret(secret)
  }

  package init(_ name: String, _ assertion: JWTAssertion) {
    self.name = name
    value = .assertion(assertion)
  }

  /// The text of it in one send.
  func text(for endpoint: HTTPURL, issuedAtUnixSeconds: Int64) throws(OAuthError) -> String {
    switch value {
    case .text(let text): text
    case .secret(let secret): secret.revealedString()
    case .assertion(let assertion): try assertion.sign(for: endpoint, issuedAtUnixSeconds: issuedAtUnixSeconds)
    }
  }

  /// What must not show in anything the server says.
  var secret: Secret? {
    switch value {
    case .text: nil
    case .secret(let secret): secret
    case .assertion(let assertion): assertion.signer.secret
    }
  }
}

extension FormParameter: CustomStringConvertible, CustomReflectable {
  package var description: String { name }
  package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
