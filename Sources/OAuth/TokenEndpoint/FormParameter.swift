package import Cryptography

/// One parameter of a request to an endpoint. It prints its name, never its value.
package struct FormParameter: Sendable {
  package enum Value: Sendable {
    case text(String)
    /// A token, a password, an assertion that somebody else made.
    case secret(Secret)
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

  var secret: Secret? {
    if case .secret(let secret) = value { secret } else { nil }
  }
}

extension FormParameter: CustomStringConvertible, CustomReflectable {
  package var description: String { name }
  package var customMirror: Mirror { Mirror(self, children: ["name": name]) }
}
