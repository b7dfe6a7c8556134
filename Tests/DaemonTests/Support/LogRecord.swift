import HTTPWire

/// One line of the log.
struct LogRecord: Sendable {
  let json: JSONValue

  init(_ line: Substring) throws { json = try JSONValue(parsing: Array(line.utf8)) }

  var event: String? { json["event"]?.stringValue }
  var route: String? { json["route"]?.stringValue }
  var credential: String? { json["credential"]?.stringValue }
  var caller: String? { json["caller"]?.stringValue }
  var method: String? { json["method"]?.stringValue }
  var target: String? { json["target"]?.stringValue }
  var upstream: String? { json["upstream"]?.stringValue }
  var status: Int64? { json["status"]?.int64Value }
  var source: String? { json["source"]?.stringValue }
  var requestBytes: Int64? { json["request_bytes"]?.int64Value }
  var responseBytes: Int64? { json["response_bytes"]?.int64Value }
  var attempts: Int64? { json["attempts"]?.int64Value }
  var auth: [String] { json["auth"]?.stringArrayValue ?? [] }
  var reused: Bool? { json["reused"]?.boolValue }
  var error: String? { json["error"]?.stringValue }
  var durationMilliseconds: Double? { json["duration_ms"]?.doubleValue }
  var upstreamMilliseconds: Double? { json["upstream_ms"]?.doubleValue }
}
