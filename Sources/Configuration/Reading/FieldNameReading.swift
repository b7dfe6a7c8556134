extension ReadingContext {
  /// Fields whose meaning ends at the next hop or that frame the message: proofd writes or drops them itself
  /// (RFC 9110 §7.6.1, §6.6.2, RFC 9112 §6).
  static let fieldsOfTheConnection: Set = [
    "connection", "content-length", "expect", "host", "keep-alive", "proxy-connection", "te", "trailer",
    "transfer-encoding", "upgrade",
  ]

  /// A field a credential is sent in.
  func readCredentialFieldName(_ entry: Entry) -> String? {
    guard let name = readFieldName(entry) else { return nil }
    let lower = name.lowercased()
    let isOurs =
      Self.fieldsOfTheConnection.contains(lower) || lower == "dpop" || lower == "forwarded"
      || ["proxy-", "proofd-", "x-forwarded-"].contains { lower.hasPrefix($0) }
    guard !isOurs else {
      entry.report("this field can't hold a credential: proofd sets or removes it itself")
      return nil
    }
    return name
  }

  /// A field to take out of requests, in lower case.
  func readRemovableFieldName(_ entry: Entry) -> String? {
    guard let name = readFieldName(entry)?.lowercased() else { return nil }
    if Self.fieldsOfTheConnection.contains(name) || name == "authorization" || name == "dpop" {
      entry.report("this field is set or removed by proofd itself and can't be listed here")
      return nil
    }
    return name
  }

  private func readFieldName(_ entry: Entry) -> String? {
    guard let name = entry.string(expected: "a field name such as X-Api-Key") else { return nil }
    guard ASCII.isToken(name) else {
      entry.report("must be a field name such as X-Api-Key, without colon and spaces")
      return nil
    }
    return name
  }
}
