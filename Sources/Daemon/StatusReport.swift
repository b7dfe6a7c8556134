import Configuration
import Credentials
import EventLoop
import Glibc
import HTTPWire

/// What the admin API says of the running daemon; no secret is reachable from here.
struct StatusReport: Sendable {
  let configuration: Configuration
  let listeners: [String]
  let sources: [TokenSource]
  let startedAtUnixSeconds = SystemTime().wallNanoseconds / 1_000_000_000

  /// `GET /v1/status`.
  var status: JSONValue {
    .object([
      ("version", .string(Daemon.version)),
      ("pid", .number(String(getpid()))),
      ("started_at", .number(String(startedAtUnixSeconds))),
      ("configuration", .string(configuration.file)),
      ("listeners", .array(listeners.map { .string($0) })),
      ("routes", .number(String(configuration.routes.count))),
      ("credentials", .array(sources.map { Self.describe($0.status()) })),
    ])
  }

  /// `GET /v1/routes`.
  var routes: JSONValue {
    .array(
      configuration.routes.map { route in
        var members: [(String, JSONValue)] = [("name", .string(route.name))]
        if let path = route.path { members.append(("path", .string(path))) }
        members.append(("upstream", .string(route.upstream.description)))
        if let credential = route.credential {
          members.append(("credential", .string(credential.name)))
          if let audience = credential.target.audience { members.append(("audience", .string(audience))) }
          if let scope = credential.target.scopeParameter { members.append(("scope", .string(scope))) }
          if !credential.target.resource.isEmpty {
            members.append(("resource", .array(credential.target.resource.map { .string($0) })))
          }
        }
        if let methods = route.methods { members.append(("methods", .array(methods.map { .string($0) }))) }
        return .object(members)
      })
  }

  private static func describe(_ status: TokenSourceStatus) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("name", .string(status.name)),
      ("kind", .string(status.kind.rawValue)),
      ("state", .string(status.state.rawValue)),
      ("can_serve", .bool(status.canServe)),
    ]
    if let at = status.expiresAtUnixSeconds { members.append(("expires_at", .number(String(at)))) }
    if let at = status.lastRefreshAtUnixSeconds { members.append(("last_refresh_at", .number(String(at)))) }
    if let failure = status.lastFailure {
      members.append(
        (
          "last_failure",
          .object([
            ("code", .string(failure.code)), ("detail", .string(failure.detail)),
            ("at", .number(String(failure.atUnixSeconds))),
          ])
        ))
    }
    members.append(("next", .string(status.next)))
    if !status.warnings.isEmpty { members.append(("warnings", .array(status.warnings.map { .string($0) }))) }
    return .object(members)
  }
}
