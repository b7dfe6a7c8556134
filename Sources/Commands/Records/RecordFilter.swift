import HTTPWire

/// Which records `tail` shows.
struct RecordFilter {
  private let route: String?
  private let credential: String?
  /// The statuses from lower to upper.
  private let statuses: ClosedRange<Int64>?

  init(_ arguments: Arguments) throws(CommandFailure) {
    route = arguments.last("--route")
    credential = arguments.last("--credential")
    statuses = try arguments.last("--status").map { (text) throws(CommandFailure) in try Self.statuses(text) }
  }

  private static func statuses(_ text: String) throws(CommandFailure) -> ClosedRange<Int64> {
    if let status = Int64(text), (100...599).contains(status) { return status...status }
    if text.count == 3, text.lowercased().hasSuffix("xx"), let first = text.first?.wholeNumberValue,
      (1...5).contains(first)
    {
      return Int64(first * 100)...Int64(first * 100 + 99)
    }
    throw .usage("--status takes a status such as 404, or a class such as 4xx")
  }

  /// A notice of dropped records passes always: what was dropped might have matched.
  func matches(_ record: JSONValue) -> Bool {
    if record["event"]?.stringValue == "log" { return true }
    if let route, record["route"]?.stringValue != route { return false }
    if let credential, record["credential"]?.stringValue != credential { return false }
    if let statuses {
      guard let status = record["status"]?.int64Value, statuses.contains(status) else { return false }
    }
    return true
  }
}
