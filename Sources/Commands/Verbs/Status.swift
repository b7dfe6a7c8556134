import EventLoop
import FoundationEssentials
import HTTPWire

extension Verb {
  static let status = Verb(
    name: "status", summary: "show the daemon, its listeners and its credentials",
    about: """
      Asks the running daemon over its control socket. Exit code 0 only if every credential can serve a request now,
      1 if one cannot, 4 if no daemon answers.
      """,
    options: [.config, .json],
    examples: [
      ("proofd status", "shows each credential: state, expiry, last refresh, next step"),
      ("proofd status --json | jq .credentials", "the same for programs"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    let client = try ControlClient(arguments, invocation)
    let body = try client.get("/v1/status")
    guard let status = try? JSONValue(parsing: body), let credentials = status["credentials"]?.arrayValue else {
      throw CommandFailure(exitCode: .failed, message: "the daemon's answer cannot be read")
    }
    if arguments.has("--json") {
      invocation.terminal.result(bytes: body.last == 0x0A ? body : body + [0x0A])
    } else {
      show(status, credentials, invocation.terminal)
    }
    return credentials.allSatisfy { $0["can_serve"]?.boolValue == true } ? .ok : .failed
  }

  private static func show(_ status: JSONValue, _ credentials: [JSONValue], _ terminal: Terminal) {
    let listeners = (status["listeners"]?.stringArrayValue ?? []).joined(separator: ", ")
    let version = status["version"]?.stringValue ?? "?"
    terminal.result("proofd \(version), pid \(status["pid"]?.int64Value ?? 0), on \(listeners)".printable)
    terminal.result("configuration \(status["configuration"]?.stringValue ?? "?")".printable)
    guard !credentials.isEmpty else { return }
    let now = SystemTime().wallNanoseconds / 1_000_000_000
    let rows = credentials.map { credential in
      [
        credential["name"]?.stringValue ?? "?", credential["kind"]?.stringValue ?? "?",
        credential["state"]?.stringValue ?? "?", moment(credential["expires_at"]?.int64Value, now),
        moment(credential["last_refresh_at"]?.int64Value, now), credential["next"]?.stringValue ?? "",
      ]
    }
    terminal.result("")
    for line in Table.render(["CREDENTIAL", "KIND", "STATE", "EXPIRES", "LAST REFRESH", "NEXT"], rows) {
      terminal.result(line.printable)
    }
    for credential in credentials {
      if let failure = credential["last_failure"] {
        let code = failure["code"]?.stringValue ?? "?"
        let detail = failure["detail"]?.stringValue ?? ""
        terminal.result("\(credential["name"]?.stringValue ?? "?"): last failure: \(code): \(detail)".printable)
      }
      for warning in credential["warnings"]?.stringArrayValue ?? [] {
        terminal.result("\(credential["name"]?.stringValue ?? "?"): warning: \(warning)".printable)
      }
    }
  }

  /// `in 4 min (12:30:05)`, `20 s ago (12:25:00)`, or `-`.
  private static func moment(_ unixSeconds: Int64?, _ now: Int64) -> String {
    guard let unixSeconds else { return "-" }
    let distance = unixSeconds - now
    let amount = abs(distance)
    let text = amount < 120 ? "\(amount) s" : amount < 7_200 ? "\(amount / 60) min" : "\(amount / 3_600) h"
    let clock = Date(timeIntervalSince1970: Double(unixSeconds)).formatted(
      .iso8601.time(includingFractionalSeconds: false))
    return (distance >= 0 ? "in \(text)" : "\(text) ago") + " (\(clock) UTC)"
  }
}
