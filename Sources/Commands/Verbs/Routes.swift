import Daemon
import HTTPWire

extension Verb {
  static let routes = Verb(
    name: "routes", summary: "show the effective routes, after defaults",
    about: """
      Reads the configuration file; no daemon is needed. Each route is shown with every local URL it has, where requests
      go, as whom and for what.
      """,
    options: [.config, .json],
    examples: [
      ("proofd routes", "shows where each local URL leads, and as whom"),
      ("proofd routes --json | jq -r '.[].urls[0]'", "the local URLs for programs"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    let configuration = try ConfigurationFile.load(arguments, invocation)
    let routes = EffectiveRoute.all(configuration, listeners: configuration.listen)
    if arguments.has("--json") {
      invocation.terminal.result(json: JSONValue.array(routes.map(\.json)).serialised() + [ASCII.lineFeed])
      return .ok
    }
    for line in Table.render(
      ["ROUTE", "LOCAL URL", "UPSTREAM", "CREDENTIAL", "FOR", "METHODS"], routes.flatMap(rows))
    {
      invocation.terminal.result(line)
    }
    return .ok
  }

  /// The first row says everything, the following ones the other local URLs.
  private static func rows(_ route: EffectiveRoute) -> [[String]] {
    let credential = route.credential.map { $0.reference.description + (route.dpop ? " (DPoP)" : "") }
    let first = [
      route.name, route.urls.first ?? "-", route.upstream,
      credential ?? (route.passAuthorization ? "the caller's" : "-"), target(route) ?? "-",
      route.methods?.joined(separator: ",") ?? "all",
    ]
    return [first] + route.urls.dropFirst().map { ["", $0, "", "", "", ""] }
  }

  private static func target(_ route: EffectiveRoute) -> String? {
    guard let target = route.credential?.target else { return nil }
    let parts = [target.audience].compactMap { $0 } + target.resource + target.scope
    return parts.isEmpty ? nil : parts.joined(separator: " ")
  }
}
