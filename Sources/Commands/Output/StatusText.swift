import HTTPWire

/// The status of a daemon for people.
struct StatusText {
  let terminal: Terminal
  /// Unix seconds, for what is in how many minutes.
  let now: Int64

  func lines(_ status: JSONValue, _ credentials: [JSONValue]) -> [String] {
    var lines = [
      "proofd \(text(status["version"])), pid \(status["pid"]?.int64Value ?? 0)\(upTime(status)), "
        + Quantity.count(Int(status["routes"]?.int64Value ?? 0), "route"),
      "listens on \((status["listeners"]?.stringArrayValue ?? []).joined(separator: ", ").printable)",
      "configuration \(text(status["configuration"]))",
    ]
    if let failure = status["log"]?["failure"]?.stringValue {
      lines.append(terminal.coloured("the log cannot be written: \(failure.printable)", .red))
    }
    if let dropped = status["log"]?["dropped"]?.int64Value, dropped > 0 {
      lines.append(terminal.coloured("the log lacks \(Quantity.count(Int(dropped), "record"))", .yellow))
    }
    guard !credentials.isEmpty else { return lines }
    lines.append("")
    lines += Table.render(
      ["CREDENTIAL", "KIND", "STATE", "EXPIRES", "LAST REFRESH", "NEXT"], credentials.map(row)
    ) { row, column, cell in
      column == 2 ? terminal.coloured(cell, AccountFacts(credentials[row]).colour) : cell
    }
    return lines + credentials.flatMap { AccountFacts($0).remarks(now: now, terminal) }
  }

  private func row(_ credential: JSONValue) -> [String] {
    [
      text(credential["name"]), text(credential["kind"]), text(credential["state"]),
      Quantity.moment(AccountFacts(credential).expiresAt, now: now),
      Quantity.moment(credential["last_refresh_at"]?.int64Value, now: now), text(credential["next"]),
    ]
  }

  private func upTime(_ status: JSONValue) -> String {
    status["started_at"]?.int64Value.map { ", up \(Quantity.seconds(max(0, now - $0)))" } ?? ""
  }

  private func text(_ value: JSONValue?) -> String { value?.stringValue?.printable ?? "?" }
}
