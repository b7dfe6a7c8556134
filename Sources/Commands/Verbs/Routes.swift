import Configuration
import HTTPWire

extension Verb {
  static let routes = Verb(
    name: "routes", summary: "show the effective routes, after defaults",
    about: "Reads the configuration file; no daemon is needed. The local URLs are those of the first `listen` address.",
    options: [.config, .json],
    examples: [("proofd routes", "shows where each local URL leads, and as whom")]
  ) { (arguments, invocation) throws(CommandFailure) in
    let configuration = try ConfigurationFile.load(arguments, invocation)
    if arguments.has("--json") {
      let routes = JSONValue.array(configuration.routes.map { describe($0, configuration) })
      invocation.terminal.result(bytes: routes.serialised() + [0x0A])
      return .ok
    }
    let rows = configuration.routes.map { route in
      [
        route.name, localURLs(route, configuration).first ?? "", route.upstream.description,
        route.credential?.name ?? "-", target(route.credential?.target), route.methods?.joined(separator: ",") ?? "all",
      ]
    }
    for line in Table.render(["ROUTE", "LOCAL", "UPSTREAM", "CREDENTIAL", "FOR", "METHODS"], rows) {
      invocation.terminal.result(line.printable)
    }
    return .ok
  }

  /// By path first: `NAME.localhost` resolves in curl and browsers, not everywhere.
  private static func localURLs(_ route: RouteConfiguration, _ configuration: Configuration) -> [String] {
    guard
      case .tcp(let host, let port)? = configuration.listen.first(where: { if case .tcp = $0 { true } else { false } })
    else { return route.path.map { [$0] } ?? [] }
    let suffix = port == 80 ? "" : ":\(port)"
    let authority = (host.contains(":") ? "[\(host)]" : host) + suffix
    return (route.path.map { ["http://\(authority)\($0)"] } ?? []) + ["http://\(route.name).localhost\(suffix)/"]
  }

  private static func target(_ target: TokenTarget?) -> String {
    guard let target else { return "-" }
    let parts = [target.audience].compactMap { $0 } + target.resource + target.scope
    return parts.isEmpty ? "-" : parts.joined(separator: " ")
  }

  private static func describe(_ route: RouteConfiguration, _ configuration: Configuration) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("name", .string(route.name)),
      ("local", .array(localURLs(route, configuration).map { .string($0) })),
      ("upstream", .string(route.upstream.description)),
    ]
    if let credential = route.credential {
      members.append(("credential", .string(credential.name)))
      if let audience = credential.target.audience { members.append(("audience", .string(audience))) }
      if let scope = credential.target.scopeParameter { members.append(("scope", .string(scope))) }
      if !credential.target.resource.isEmpty {
        members.append(("resource", .array(credential.target.resource.map { .string($0) })))
      }
    }
    members.append(("methods", route.methods.map { .array($0.map { .string($0) }) } ?? .string("all")))
    return .object(members)
  }
}
