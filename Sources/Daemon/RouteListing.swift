package import Configuration
package import HTTPWire

/// A route with all defaults filled in, as `proofd routes` and the admin API show it.
package struct EffectiveRoute: Sendable {
  package let name: String
  package let path: String?
  /// Where callers reach it: by path first, since `NAME.localhost` does not resolve everywhere.
  package let urls: [String]
  package let upstream: String
  package let credential: RouteCredential?
  /// Every request carries a proof (RFC 9449).
  package let dpop: Bool
  /// Nil is every method but TRACE, TRACK and CONNECT.
  package let methods: [String]?
  package let passAuthorization: Bool

  /// The routes of a configuration, in its order.
  ///
  /// - Parameter listeners: the addresses that are bound, or wanted if no daemon runs.
  package static func all(_ configuration: Configuration, listeners: [ListenAddress]) -> [EffectiveRoute] {
    configuration.routes.map { route in
      EffectiveRoute(
        name: route.name, path: route.path, urls: urls(of: route, listeners), upstream: route.upstream.description,
        credential: route.credential,
        dpop: route.credential.flatMap { configuration.credential(named: $0.name) }?.usesDPoP ?? false,
        methods: route.methods, passAuthorization: route.passAuthorization)
    }
  }

  /// A UNIX socket is written as nginx does, `unix:/socket:/path`.
  private static func urls(of route: RouteConfiguration, _ listeners: [ListenAddress]) -> [String] {
    let byPath = route.path.map { path in
      listeners.map { listener in
        switch listener {
        case .tcp(let host, let port): "http://\(authority(host, port))\(path)"
        case .unix(let socket): "unix:\(socket):\(path)"
        }
      }
    }
    var byHost: [String] = []
    for case .tcp(_, let port) in listeners {
      let url = "http://\(authority("\(route.name).localhost", port))/"
      if !byHost.contains(url) { byHost.append(url) }
    }
    return (byPath ?? []) + byHost
  }

  private static func authority(_ host: String, _ port: UInt16) -> String {
    (host.contains(":") ? "[\(host)]" : host) + (port == 80 ? "" : ":\(port)")
  }

  /// As `Config/admin-api.yaml` describes it.
  package var json: JSONValue {
    var members: [(String, JSONValue)] = [("name", .string(name))]
    if let path { members.append(("path", .string(path))) }
    members.append(("urls", .array(urls.map { .string($0) })))
    members.append(("upstream", .string(upstream)))
    if let credential {
      let target = credential.target
      members.append(("credential", .string(credential.reference.description)))
      members.append(("dpop", .bool(dpop)))
      if let audience = target.audience { members.append(("audience", .string(audience))) }
      if let scope = target.scopeParameter { members.append(("scope", .string(scope))) }
      if !target.resource.isEmpty { members.append(("resource", .array(target.resource.map { .string($0) }))) }
    }
    members.append(("methods", methods.map { .array($0.map { .string($0) }) } ?? .null))
    members.append(("pass_authorization", .bool(passAuthorization)))
    return .object(members)
  }
}
