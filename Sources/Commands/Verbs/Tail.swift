import HTTPWire

extension Verb {
  static let tail = Verb(
    name: "tail", summary: "watch requests live, redacted",
    about: """
      Shows the request records of the running daemon as they are written: one line a request, with no secret in it; times
      are UTC. Calls of authorization servers are shown too. Ends with the daemon, or with Ctrl-C.
      """,
    options: [
      .config, .json,
      Option(
        name: "--lines", short: "-n", value: "N",
        help: "begin with the last N records (default 10, at most 1000; of a file: all)"),
      Option(name: "--no-follow", help: "end after the past records"),
      Option(name: "--file", value: "FILE", help: "read a log file instead of asking the daemon"),
      Option(name: "--route", value: "NAME", help: "only requests of this route"),
      Option(name: "--credential", value: "NAME", help: "only requests with this credential"),
      Option(name: "--status", value: "CLASS", help: "only these statuses: 404, or 4xx"),
    ],
    examples: [
      ("proofd tail", "watches everything"),
      ("proofd tail -n 100 --no-follow --status 5xx", "the failures among the last hundred"),
      ("proofd tail --json | jq -r .target", "raw records for programs"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    let printer = RecordPrinter(
      filter: try RecordFilter(arguments), json: arguments.has("--json"), terminal: invocation.terminal)
    if let file = arguments.last("--file") {
      try show(file, last: try arguments.number("--lines", in: 0...1_000_000), printer)
      return .ok
    }
    let count = try arguments.number("--lines", in: 0...1_000) ?? 10
    let client = try ControlClient(arguments, invocation)
    if arguments.has("--no-follow") {
      for line in try client.get("/v1/records?last=\(count)").split(separator: ASCII.lineFeed) {
        printer.show(Array(line))
      }
      return .ok
    }
    var events = EventStreamParser()
    let ending = try client.stream("/v1/records?last=\(count)&follow=true", isLive: true) { bytes in
      for data in events.parse(bytes) { printer.show(data) }
    }
    invocation.terminal.talk("proofd: the daemon \(ending == .complete ? "has stopped" : "went away")")
    return .ok
  }

  private static func show(_ file: String, last: Int?, _ printer: RecordPrinter) throws(CommandFailure) {
    guard let last else { return try LogFile.forEachLine(file, printer.show) }
    for line in try LogFile.last(last, of: file, where: printer.isShown) { printer.show(line) }
  }
}
