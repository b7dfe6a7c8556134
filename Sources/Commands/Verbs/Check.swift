import Configuration
import HTTPWire

extension Verb {
  static let check = Verb(
    name: "check", summary: "validate the configuration without starting",
    about: """
      Names every problem at once, each with file, line, column and key. Exit code 0 if the configuration can be served
      (there may be warnings), 2 if not.
      """,
    options: [.config, .json],
    examples: [("proofd check --config proofd.yaml", "checks one file")]
  ) { (arguments, invocation) throws(CommandFailure) in
    let (configuration, problems) = try ConfigurationFile.read(arguments, invocation)
    if arguments.has("--json") {
      invocation.terminal.result(
        json: JSONValue.object([
          ("ok", .bool(configuration != nil)), ("problems", .array(problems.map(describe))),
        ]).serialised() + [0x0A])
    } else {
      for problem in problems { invocation.terminal.result(problem.description.printable) }
      if let configuration {
        let parts = [
          Quantity.count(configuration.routes.count, "route"),
          Quantity.count(configuration.credentials.count, "credential"),
          problems.isEmpty ? nil : Quantity.count(problems.count, "warning"),
        ]
        invocation.terminal.result("ok: \(parts.compactMap { $0 }.joined(separator: ", "))")
      }
    }
    return configuration == nil ? .usage : .ok
  }

  private static func describe(_ problem: ConfigurationProblem) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("severity", .string(problem.severity.rawValue)), ("file", .string(problem.file)),
      ("line", .number(String(problem.line))), ("column", .number(String(problem.column))),
      ("key", .string(problem.keyPath)), ("message", .string(problem.message)),
    ]
    if let suggestion = problem.suggestion { members.append(("suggestion", .string(suggestion))) }
    return .object(members)
  }
}
