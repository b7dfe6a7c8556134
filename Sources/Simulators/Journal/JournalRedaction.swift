import HTTPWire

/// Takes the secrets out of journal entries, for those who keep the journals of their CI.
enum JournalRedaction {
  static let marker = "[redacted]"

  /// Only these keep their values: any other field may be the one that carries a key.
  private static let harmless: Set<String> = [
    "accept", "accept-encoding", "connection", "content-length", "content-type", "expect", "host", "te",
    "transfer-encoding", "user-agent",
  ]

  /// Keeps the first word of credentials, so that one still sees their kind.
  static func redact(_ field: HTTPField) -> HTTPField {
    let name = field.name.lowercased()
    if harmless.contains(name) { return field }
    let scheme = name == "authorization" ? field.value.firstIndex(of: " ").map { field.value[...$0] } ?? "" : ""
    return HTTPField(name: field.name, value: scheme + marker)
  }

  /// A query may be the place of a key; the path is what tells requests apart.
  static func redact(target: String) -> String {
    target.firstIndex(of: "?").map { target[...$0] + marker } ?? target
  }

  /// Bodies are not kept at all; their hash and length are.
  static func redact(_ entry: inout JournalEntry) { entry.body?.kept = [] }
}
