import HTTPWire

/// Shows one record a line, for people or as it is.
struct RecordPrinter {
  let filter: RecordFilter
  let json: Bool
  let terminal: Terminal

  /// - Parameter line: one record of the log, without its line feed.
  func show(_ line: [UInt8]) {
    guard let record = record(line) else { return }
    if json { terminal.result(json: raw(line, record) + [ASCII.lineFeed]) } else { terminal.result(text(record)) }
  }

  /// Whether the line is a record that passes the filter.
  func isShown(_ line: [UInt8]) -> Bool { record(line) != nil }

  private func record(_ line: [UInt8]) -> JSONValue? {
    // A log file may hold lines of other programs; they are passed over.
    guard let record = try? JSONValue(parsing: line), record.objectValue != nil, filter.matches(record) else {
      return nil
    }
    return record
  }

  /// The line as it came. One that a terminal could obey, which proofd does not write, is written anew.
  func raw(_ line: [UInt8], _ record: JSONValue) -> [UInt8] {
    line.allSatisfy { (0x20..<0x7F).contains($0) } ? line : record.serialised()
  }

  /// `12:00:05.123Z 200 GET     /orders/1   orders → https://api.example.com/v1/orders   12.3 ms  cached,nonce_retry`
  func text(_ record: JSONValue) -> String {
    let time = Self.time(record["time"]?.stringValue)
    if record["event"]?.stringValue == "log" {
      let count = Quantity.count(Int(record["dropped"]?.int64Value ?? 0), "record")
      return "\(time) \(terminal.coloured("··· \(count) dropped here", .yellow))"
    }
    if record["event"]?.stringValue == "credential" { return "\(time) \(trouble(record))" }
    let isOAuth = record["event"]?.stringValue == "oauth"
    let from = record[isOAuth ? "credential" : "route"]?.stringValue?.printable ?? "-"
    let to = record["upstream"]?.stringValue.map { " → \($0.printable)" } ?? ""
    let auth = (record["auth"]?.stringArrayValue ?? []).filter { $0 != "none" }.joined(separator: ",").printable
    let parts = [
      time, status(record["status"]?.int64Value),
      Help.padded(record["method"]?.stringValue?.printable ?? "-", 7),
      Help.padded(record["target"]?.stringValue?.printable ?? "-", 28) + " ", Help.padded(from + to, 40) + " ",
      Help.padded(record["duration_ms"]?.doubleValue.map(Quantity.milliseconds) ?? "-", 8),
      isOAuth ? terminal.coloured("oauth", .cyan) : "", auth.isEmpty ? "" : terminal.coloured(auth, .dim),
      record["error"]?.stringValue.map { terminal.coloured($0.printable, .red) } ?? "",
    ]
    return Self.trimmed(parts.filter { !$0.isEmpty }.joined(separator: " "))
  }

  /// Why a credential can't serve.
  private func trouble(_ record: JSONValue) -> String {
    let text = { (name: String) in record[name]?.stringValue?.printable ?? "-" }
    return
      "\(terminal.coloured("credential \(text("credential")) cannot serve: \(text("error"))", .red)): \(text("detail")). \(text("next"))"
  }

  /// The time of day of `2026-11-30T12:00:05.123Z`, in UTC as the log has it.
  private static func time(_ text: String?) -> String {
    guard let text, let index = text.firstIndex(of: "T") else { return Help.padded(text?.printable ?? "-", 13) }
    return Help.padded(String(text[text.index(after: index)...]).printable, 13)
  }

  private static func trimmed(_ line: String) -> String {
    String(line[...(line.lastIndex { $0 != " " } ?? line.startIndex)])
  }

  private func status(_ status: Int64?) -> String {
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
