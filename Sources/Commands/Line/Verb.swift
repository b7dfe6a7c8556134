import Daemon

/// One verb of the command line.
struct Verb: Sendable {
  let name: String
  /// Half a line for the list of verbs.
  let summary: String
  /// Whole sentences for `--help`.
  let about: String
  let options: [Option]
  var operands: [Operand] = []
  /// Command lines that work, with what they do.
  let examples: [(command: String, does: String)]
  /// What the next word chooses among; `name` of each is whole: `credentials list`.
  var subverbs: [Verb] = []
  let run: @Sendable (Arguments, Invocation) throws(CommandFailure) -> ExitCode

  static let all = [serve, check, routes, status, tail, credentials, whoami, token, headers, lock, unlock]
}

/// What a verb may use of the world.
struct Invocation: Sendable {
  let environment: [String: String]
  let terminal: Terminal
  /// For `serve`.
  var probes = RefreshProbes.none
}
