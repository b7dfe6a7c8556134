import HTTPWire

/// Shows one record a line, for people or as it is.
struct RecordPrinter {
  let filter: RecordFilter
  let json: Bool
  let terminal: Terminal

  /// - Parameter line: one record of the log, without its line feed.
  func show(_ line: [UInt8]) {
    guard let record = try? JSONValue(parsing: line) else { return }  // a log may hold other programs' lines
    guard filter.matches(record) else { return }
    if json { return terminal.result(bytes: line + [0x0A]) }
    terminal.result(text(record))
  }

  /// `12:00:05 200 GET /orders/1 → https://api.example.com/v1/orders 12 ms cached`
  func text(_ record: JSONValue) -> String {
    let string = { (name: String) in record[name]?.stringValue?.printable }
    let time = (string("time") ?? "").dropFirst(11).prefix(12)
    if string("event") == "log" {
      return terminal.coloured("\(time) … records were dropped: \(record["dropped"]?.int64Value ?? 0)", .yellow)
    }
    let status = record["status"]?.int64Value
    var parts = [String(time), coloured(status)]
    if string("event") == "oauth" { parts.append(terminal.coloured("oauth", .cyan)) }
    parts.append(Help.padded(string("method") ?? "-", 4))
    parts.append(string("event") == "oauth" ? string("upstream") ?? "-" : string("target") ?? "-")
    if string("event") != "oauth", let upstream = string("upstream") { parts.append("→ \(upstream)") }
    if let duration = record["duration_ms"]?.doubleValue { parts.append("\(duration) ms") }
    let auth = (record["auth"]?.stringArrayValue ?? []).filter { $0 != "none" }.joined(separator: ",").printable
    if !auth.isEmpty { parts.append(terminal.coloured(auth, .dim)) }
    if let error = string("error") { parts.append(terminal.coloured(error, .red)) }
    return parts.joined(separator: " ")
  }

  private func coloured(_ status: Int64?) -> String {
    guard let status else { return "---" }
    let colour: Terminal.Colour =
      switch status {
      case ..<300: .green
      case ..<400: .cyan
      case ..<500: .yellow
      default: .red
      }
    return terminal.coloured(String(status), colour)
  }
}
