import Daemon

/// One verb of the command line.
struct Verb: Sendable {
  let name: String
  /// Half a line for the list of verbs.
  let summary: String
  /// Whole sentences for `--help`.
  let about: String
  let options: [Option]
  /// Command lines that work, with what they do.
  let examples: [(command: String, does: String)]
  let run: @Sendable (Arguments, Invocation) throws(CommandFailure) -> ExitCode

  static let all = [serve, check, routes, status, tail]
}

/// What a verb may use of the world.
struct Invocation: Sendable {
  let environment: [String: String]
  let terminal: Terminal
  /// For `serve`.
  var probes = RefreshProbes.none
}
