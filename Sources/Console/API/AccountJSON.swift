package import Credentials
package import HTTPWire

/// What the admin API says of accounts. No secret is in it.
extension AccountStatus {
  package var json: JSONValue {
    var members: [(String, JSONValue)] = [
      ("name", .string(name.description)), ("kind", .string(kind)), ("state", .string(state.rawValue)),
      ("can_serve", .bool(canServe)), ("default", .bool(isDefault)), ("tags", .array(tags.map { .string($0) })),
    ]
    members.append("grant", grant?.text)
    members.append("issuer", issuer)
    members.append("client_id", clientID)
    if !scope.isEmpty { members.append("scope", scope.joined(separator: " ")) }
    members.append("proof_key_thumbprint", proofKeyThumbprint)
    members.append("created_at", createdAtUnixSeconds)
    members.append("expires_at", expiresAtUnixSeconds)
    members.append("last_refresh_at", lastRefreshAtUnixSeconds)
    members.append("session_expires_at", sessionExpiresAtUnixSeconds)
    members.append(("targets", .array(targets.map(\.json))))
    if let lastFailure { members.append(("last_failure", lastFailure.json)) }
    members.append("detail", detail)
    members.append("next", next)
    if !warnings.isEmpty { members.append(("warnings", .array(warnings.map { .string($0) }))) }
    return .object(members)
  }
}

extension AccountStatus.Target {
  fileprivate var json: JSONValue {
    var members: [(String, JSONValue)] = []
    members.append("audience", audience)
    if !resource.isEmpty { members.append(("resource", .array(resource.map { .string($0) }))) }
    if !scope.isEmpty { members.append("scope", scope.joined(separator: " ")) }
    members.append("state", state.rawValue)
    members.append("expires_at", expiresAtUnixSeconds)
    return .object(members)
  }
}

extension AccountStatus.Failure {
  fileprivate var json: JSONValue {
    .object([
      ("code", .string(code)), ("detail", .string(detail)), ("at", .number(String(atUnixSeconds))),
    ])
  }
}

extension AccountIdentity {
  var json: JSONValue {
    var members: [(String, JSONValue)] = []
    members.append("issuer", issuer)
    members.append("subject", subject)
    members.append("name", name)
    members.append("preferred_username", preferredUsername)
    members.append("email", email)
    members.append("picture", picture)
    return .object(members)
  }
}

extension LockStatus {
  /// - Parameter status: nil if the store needs no passphrase.
  static func json(_ status: LockStatus?) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("passphrase", .bool(status != nil)), ("locked", .bool(status?.isLocked ?? false)),
    ]
    members.append("locks_in_seconds", status?.locksInSeconds)
    return .object(members)
  }
}

extension [(String, JSONValue)] {
  /// Appends a member unless there is nothing to say.
  fileprivate mutating func append(_ name: String, _ text: String?) {
    if let text { append((name, .string(text))) }
  }

  fileprivate mutating func append(_ name: String, _ number: Int64?) {
    if let number { append((name, .number(String(number)))) }
  }
}
