import EventLoop
import HTTPWire

extension Verb {
  static let status = Verb(
    name: "status", summary: "show the daemon, its listeners and its credentials",
    about: """
      Asks the running daemon over its control socket. Exit code 0 only if every credential and account can serve a request
      now, 3 if a login or an unlock is needed for one, 1 if one cannot for another reason, 4 if no daemon answers.
      """,
    options: [.config, .json],
    examples: [
      ("proofd status", "shows each credential: state, expiry, last refresh, next step"),
      ("proofd status --json | jq .credentials", "the same for programs"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    let body = try ControlClient(arguments, invocation).get("/v1/status")
    guard let status = try? JSONValue(parsing: body), let credentials = status["credentials"]?.arrayValue else {
      throw ControlClient.unreadable("it is no status")
    }
    if arguments.has("--json") {
      invocation.terminal.result(json: status.serialised() + [ASCII.lineFeed])
    } else {
      let report = StatusText(terminal: invocation.terminal, now: SystemTime().wallNanoseconds / 1_000_000_000)
      for line in report.lines(status, credentials) { invocation.terminal.result(line) }
    }
    return AccountFacts.exitCode(credentials)
  }
}
