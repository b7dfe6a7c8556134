/// A credential by name, and which of its accounts: `NAME` or `NAME/ACCOUNT`.
package struct CredentialReference: Sendable, Hashable {
  /// A name in `Configuration.credentials`.
  package var name: String
  /// An account of a login profile. Nil is whichever is its default; empty, `NAME/`, the one that was made without a name.
  package var account: String?

  package static let accountBytesMax = 64

  package init(name: String, account: String? = nil) {
    self.name = name
    self.account = account
  }
}

extension CredentialReference: CustomStringConvertible {
  /// As the configuration spells it.
  package var description: String { account.map { "\(name)/\($0)" } ?? name }
}
