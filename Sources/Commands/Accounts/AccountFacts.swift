import HTTPWire

/// What verbs read in an account, or a credential, as the admin API describes it.
struct AccountFacts {
  private let json: JSONValue

  init(_ json: JSONValue) { self.json = json }

  var name: String { json["name"]?.stringValue ?? "?" }
  var state: String { json["state"]?.stringValue ?? "?" }
  var canServe: Bool { json["can_serve"]?.boolValue == true }

  /// A person has to do something before it can serve.
  var needsPerson: Bool {
    !canServe
      && [
        "login_required", "locked", "session_expired", "key_missing", "key_mismatch", "rotation_interrupted",
      ].contains(state)
  }

  /// Its own, or the first of its tokens to end.
  var expiresAt: Int64? {
    json["expires_at"]?.int64Value
      ?? json["targets"]?.arrayValue?.compactMap { $0["expires_at"]?.int64Value }.min()
  }

  var colour: Terminal.Colour {
    guard canServe else { return .red }
    return state == "ready" ? .green : .yellow
  }

  /// What a token is for, of one target.
  var target: String {
    let parts =
      [json["audience"]?.stringValue].compactMap { $0 } + (json["resource"]?.stringArrayValue ?? [])
      + [json["scope"]?.stringValue].compactMap { $0 }
    return parts.isEmpty ? "the profile's own audience" : parts.joined(separator: " ")
  }

  /// What is the matter, the last failure and the warnings, a line each.
  func remarks(now: Int64, _ terminal: Terminal) -> [String] {
    var remarks: [String] = []
    let text = { (value: JSONValue?) in value?.stringValue?.printable ?? "?" }
    if let detail = json["detail"] { remarks.append("\(name.printable): \(text(detail))") }
    if let failure = json["last_failure"], failure["detail"] != json["detail"] {
      let moment = Quantity.moment(failure["at"]?.int64Value, now: now)
      remarks.append(
        "\(name.printable): \(terminal.coloured("failed", .red)) \(moment): "
          + "\(text(failure["code"])): \(text(failure["detail"]))")
    }
    for warning in json["warnings"]?.stringArrayValue ?? [] {
      remarks.append("\(name.printable): \(terminal.coloured("warning", .yellow)): \(warning.printable)")
    }
    return remarks
  }

  /// 0 only if all can serve; 3 if a person is needed for one.
  static func exitCode(_ accounts: [JSONValue]) -> ExitCode {
    let facts = accounts.map(AccountFacts.init)
    if facts.allSatisfy(\.canServe) { return .ok }
    return facts.contains(where: \.needsPerson) ? .loginOrUnlockNeeded : .failed
  }
}
