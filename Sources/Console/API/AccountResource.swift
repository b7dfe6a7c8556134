import Credentials
import HTTPWire

/// What the admin API has of accounts.
enum AccountResource: Equatable, Sendable {
  /// `/v1/accounts`
  case all
  /// `/v1/accounts/{name}`
  case account(AccountName)
  /// `/v1/accounts/{name}/import`
  case grant(AccountName)
  case identity(AccountName)
  case token(AccountName)
  case headers(AccountName)
  /// `/v1/lock`
  case lock
  case unlock

  /// nil if the path is none of them. In a name `/` is `%2F`.
  init?(path: String) {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[0].isEmpty, parts[1] == "v1" else { return nil }
    switch (parts[2], parts.count) {
    case ("accounts", 3): self = .all
    case ("lock", 3): self = .lock
    case ("unlock", 3): self = .unlock
    case ("accounts", 4...5):
      guard let name = Self.name(parts[3]) else { return nil }
      self.init(name, part: parts.count == 5 ? parts[4] : nil)
    default: return nil
    }
  }

  private init?(_ name: AccountName, part: Substring?) {
    switch part {
    case nil: self = .account(name)
    case "import": self = .grant(name)
    case "identity": self = .identity(name)
    case "token": self = .token(name)
    case "headers": self = .headers(name)
    default: return nil
    }
  }

  private static func name(_ text: Substring) -> AccountName? {
    guard let bytes = PercentEncoding.decode(text) else { return nil }
    return String(validating: bytes, as: UTF8.self).flatMap(AccountName.init(parsing:))
  }

  var methods: [AdminMethod] {
    switch self {
    case .all, .identity: AdminMethod.reading
    case .account: AdminMethod.reading + [.patch, .delete]
    case .lock: AdminMethod.reading + [.post]
    case .grant, .token, .headers, .unlock: [.post]
    }
  }

  /// - Throws: a problem that names the methods there are.
  func checking(_ method: String) throws(AdminProblem) -> AdminMethod {
    guard let method = AdminMethod(rawValue: method), methods.contains(method) else {
      throw .methodNotAllowed(allow: methods)
    }
    return method
  }
}
