package import Cryptography
package import HTTPWire

/// Which token; what is nil or empty is as the profile has it.
package struct TokenAsk: Sendable {
  package var audience: String?
  package var resource: [String] = []
  package var scope: [String] = []
  /// The token must live at least this long from now.
  package var minimumLifetime: Duration?

  package init() {}
}

package struct FieldsAsk: Sendable {
  package var method: String
  package var url: HTTPURL
  package var token = TokenAsk()

  package init(method: String, url: HTTPURL) {
    self.method = method
    self.url = url
  }
}

package struct ExportedToken: Sendable {
  package let accessToken: Secret
  /// `Bearer` or `DPoP`; nil for a static credential of another kind.
  package let scheme: String?
  package let expiresAtUnixSeconds: Int64?

  package init(accessToken: Secret, scheme: String?, expiresAtUnixSeconds: Int64?) {
    self.accessToken = accessToken
    self.scheme = scheme
    self.expiresAtUnixSeconds = expiresAtUnixSeconds
  }
}

package struct ExportedField: Sendable {
  package let name: String
  package let value: Secret

  package init(name: String, value: Secret) {
    self.name = name
    self.value = value
  }
}
