import Configuration
import HTTPWire

/// The options of the verbs that give a token away.
enum TokenOptions {
  static let all: [Option] = [
    Option(name: "--audience", value: "URI", help: "for this audience instead of the profile's"),
    Option(name: "--resource", value: "URI", help: "for this resource (RFC 8707); may be repeated"),
    Option(name: "--scope", value: "SCOPE", help: "with this scope; several are separated by spaces"),
    Option(name: "--min-ttl", value: "TIME", help: "it must live so long from now: 300, 300s, 5m; at most 24h"),
    .config, .json, Accounts.passphraseOption,
  ]

  /// The members of the request.
  static func members(_ arguments: Arguments) throws(CommandFailure) -> [(String, JSONValue)] {
    var members: [(String, JSONValue)] = []
    if let audience = arguments.last("--audience") { members.append(("audience", .string(audience))) }
    let resources = arguments.all("--resource")
    if !resources.isEmpty { members.append(("resource", .array(resources.map { .string($0) }))) }
    if let scope = arguments.last("--scope") { members.append(("scope", .string(scope))) }
    if let text = arguments.last("--min-ttl") { members.append(("min_ttl", .number(String(try seconds(text))))) }
    return members
  }

  private static func seconds(_ text: String) throws(CommandFailure) -> Int64 {
    let duration = ScalarFormat.duration(text) ?? Int64(text).map { .seconds($0) }
    guard let seconds = duration?.components.seconds, (0...86_400).contains(seconds) else {
      throw .usage("--min-ttl takes a time up to 24h, such as 300, 300s or 5m")
    }
    return seconds
  }
}
