import HTTPWire

/// Which account: `acme` is the default account of the profile `acme`, `acme/work` the one of that name, and `acme/` the
/// one that was made without a name.
package struct AccountName: Sendable, Hashable {
  /// The key under `credentials:` of the configuration.
  package let profile: String
  /// nil: whichever is the profile's default; empty: the one without a name.
  package let account: String?

  package static let accountBytesMax = 64

  package init(profile: String, account: String? = nil) {
    self.profile = profile
    self.account = account
  }

  /// nil unless it is `PROFILE`, `PROFILE/` or `PROFILE/ACCOUNT` with an account of letters, digits and `-_.@+`.
  package init?(parsing text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let profile = parts.first, Self.isName(profile) else { return nil }
    guard parts.count == 2 else {
      self.init(profile: String(profile))
      return
    }
    guard parts[1].isEmpty || Self.isName(parts[1]) else { return nil }
    self.init(profile: String(profile), account: String(parts[1]))
  }

  private static func isName(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.count <= accountBytesMax
      && text.utf8.allSatisfy { ASCII.isAlphanumeric($0) || "-_.@+".utf8.contains($0) }
  }
}

extension AccountName: CustomStringConvertible {
  package var description: String { account.map { "\(profile)/\($0)" } ?? profile }
}
