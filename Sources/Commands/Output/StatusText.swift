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
      column == 2 ? terminal.coloured(cell, colour(credentials[row])) : cell
    }
    return lines + credentials.flatMap(remarks)
  }

  private func row(_ credential: JSONValue) -> [String] {
    [
      text(credential["name"]), text(credential["kind"]), text(credential["state"]),
      Quantity.moment(credential["expires_at"]?.int64Value, now: now),
      Quantity.moment(credential["last_refresh_at"]?.int64Value, now: now), text(credential["next"]),
    ]
  }

  private func remarks(_ credential: JSONValue) -> [String] {
    let name = text(credential["name"])
    var remarks: [String] = []
    if let failure = credential["last_failure"] {
      let moment = Quantity.moment(failure["at"]?.int64Value, now: now)
      remarks.append(
        "\(name): \(terminal.coloured("failed", .red)) \(moment): \(text(failure["code"])): \(text(failure["detail"]))")
    }
    for warning in credential["warnings"]?.stringArrayValue ?? [] {
      remarks.append("\(name): \(terminal.coloured("warning", .yellow)): \(warning.printable)")
    }
    return remarks
  }

  private func colour(_ credential: JSONValue) -> Terminal.Colour {
    guard credential["can_serve"]?.boolValue == true else { return .red }
    return credential["state"]?.stringValue == "ready" ? .green : .yellow
  }

  private func upTime(_ status: JSONValue) -> String {
    status["started_at"]?.int64Value.map { ", up \(Quantity.seconds(max(0, now - $0)))" } ?? ""
  }

  private func text(_ value: JSONValue?) -> String { value?.stringValue?.printable ?? "?" }
}
