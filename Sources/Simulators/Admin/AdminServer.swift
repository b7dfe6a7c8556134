import HTTPWire

/// The port over which another process scripts a simulation and reads what it saw.
struct AdminServer: Sendable {
  static let entriesShownMax = 1_000

  let simulation: Simulation
  private var state: SimulationState { simulation.state }

  init(simulation: Simulation) { self.simulation = simulation }

  func serve(_ channel: any ByteChannel, _ number: Int) {
    let connection = BlockingConnection(channel: channel, number: number)
    do {
      while let head = try connection.nextHead() {
        let body = try connection.readBody(of: head)
        let writer = AnswerWriter(connection: connection, request: head, date: state.date(at: .api))
        guard try writer.write(answer(to: head, body).endingLine()) else { return connection.closeGracefully() }
      }
    } catch {}  // whatever ends a connection here is the caller's doing and nobody else's business
  }

  func answer(to head: ReceivedHead, _ body: ReceivedBody) -> Answer {
    do {
      try admit(head)
      return try route(head, body)
    } catch {
      return .json(error.status, .object([("error", .string(error.detail))]))
    }
  }

  /// A web page must not script the simulation through its visitor's browser, nor by a name that points here.
  private func admit(_ head: ReceivedHead) throws(AdminError) {
    let port = simulation.adminPort ?? 0
    guard ["127.0.0.1:\(port)", "localhost:\(port)"].contains(head.values(of: "host").first) else {
      throw AdminError(status: 421, "Host does not name this port")
    }
    let site = head.values(of: "sec-fetch-site").first ?? "none"
    guard head.values(of: "origin").isEmpty, site == "none" else {
      throw AdminError(status: 403, "this port is not for web pages")
    }
  }

  private func route(_ head: ReceivedHead, _ body: ReceivedBody) throws(AdminError) -> Answer {
    let segments = head.path.split(separator: "/").map(String.init)
    switch (head.method, segments.first, segments.count) {
    case ("GET", nil, _): return .json(200, addresses)
    case ("GET", "settings", 1): return .json(200, SettingsJSON.table.json(simulation.settings))
    case ("PATCH", "settings", 1): return .json(200, try changeSettings(json(body)))
    case ("GET", "faults", 1): return .json(200, .array(simulation.faults.rules.map(shown)))
    case ("POST", "faults", 1): return .json(201, try addRule(json(body)))
    case ("DELETE", "faults", 1): return done { simulation.faults.removeAll() }
    case ("DELETE", "faults", 2):
      guard let number = Int(segments[1]) else { break }
      return done { simulation.faults.remove(number) }
    case ("GET", "gates", 2):
      return .json(200, .object([("waiting", .integer(simulation.faults.gates.waiting(at: segments[1])))]))
    case ("POST", "gates", 3) where segments[2] == "open":
      return done { simulation.faults.gates.open(segments[1]) }
    case ("POST", "gates", 3) where segments[2] == "close":
      return done { simulation.faults.gates.close(segments[1]) }
    case ("POST", "nonces", 2) where segments[1] == "expire":
      let role = try role(head)
      return done { simulation.expireNonces(at: role) }
    case ("POST", "tokens", 2) where segments[1] == "revoke": return done { simulation.revokeTokens() }
    case ("POST", "grants", 1): return .json(201, try seedGrants(json(body)))
    case ("GET", "grants", 1): return .json(200, .array(simulation.grants.map(GrantJSON.json)))
    case ("GET", "grants", 2):
      guard let grant = Int(segments[1]).flatMap(simulation.grant) else { break }
      return .json(200, GrantJSON.json(grant))
    case ("POST", "grants", 3) where segments[2] == "revoke":
      guard let number = Int(segments[1]), simulation.revokeGrant(number) else { break }
      return Answer(status: 204)
    case ("GET", "journal", 1): return .json(200, try journal(head))
    case ("DELETE", "journal", 1): return done { simulation.journal.clear() }
    case ("GET", "counts", 1):
      return .json(200, JournalJSON.counts(simulation.journal.entries(), dropped: simulation.journal.dropped))
    case ("POST", "reset", 1): return done { simulation.reset() }
    default: break
    }
    throw AdminError(status: 404, "there is no \(head.method) \(head.path); GET / names what there is")
  }

  private func done(_ body: () -> Void) -> Answer {
    body()
    return Answer(status: 204)
  }

  private func json(_ body: ReceivedBody) throws(AdminError) -> JSONValue {
    guard body.isComplete, let value = JSONValue(strictly: body.kept) else {
      throw AdminError("the body must be JSON of at most \(ReceivedBody.keptBytesMax) bytes")
    }
    return value
  }

  private func role(_ head: ReceivedHead) throws(AdminError) -> Role? {
    guard let name = head.parameter("role") else { return nil }
    return try required(Role(rawValue: name), "role, \"as\" or \"api\",")
  }

  /// All or nothing.
  private func changeSettings(_ change: JSONValue) throws(AdminError) -> JSONValue {
    let result = state.settings.withLock { settings -> Result<JSONValue, AdminError> in
      Result { () throws(AdminError) in
        var changed = settings
        try SettingsJSON.table.apply(change, to: &changed, at: "settings")
        settings = changed
        return SettingsJSON.table.json(changed)
      }
    }
    return try result.get()
  }

  private func addRule(_ value: JSONValue) throws(AdminError) -> JSONValue {
    let rule = try FaultReader.rule(value)
    guard simulation.faults.rules.count < FaultScript.rulesMax else {
      throw AdminError(status: 409, "there are too many rules")
    }
    return .object([("rule", .integer(simulation.faults.add(rule.faults, next: rule.next, on: rule.match)))])
  }

  /// One grant, or a list if a count was given.
  private func seedGrants(_ value: JSONValue) throws(AdminError) -> JSONValue {
    let (seed, count) = try GrantJSON.seed(value)
    var grants: [JSONValue] = []
    for _ in 0..<(count ?? 1) {
      do { grants.append(try GrantJSON.json(simulation.seedGrant(seed))) } catch { throw AdminError("\(error)") }
    }
    return count == nil ? grants[0] : .array(grants)
  }

  private func shown(_ rule: FaultRule) -> JSONValue {
    .object([
      ("rule", .integer(rule.number)),
      (
        "match",
        .object([
          ("role", .optional(rule.match.role?.rawValue)), ("method", .optional(rule.match.method)),
          ("path", .optional(rule.match.pathPrefix)),
          ("grant_type", .optional(rule.match.grantType?.rawValue)), ("grant", .optional(rule.match.grant)),
          ("verdict", .optional(rule.match.verdict?.rawValue)),
        ])
      ),
      ("next", rule.remaining.map { .integer($0) } ?? "always"),
      ("faults", .strings(rule.faults.map(\.name))),
    ])
  }

  private func journal(_ head: ReceivedHead) throws(AdminError) -> JSONValue {
    let since = head.parameter("since").flatMap { Int($0) } ?? 0
    let limit = min(head.parameter("limit").flatMap { Int($0) } ?? Self.entriesShownMax, Self.entriesShownMax)
    let entries = simulation.journal.entries(role: try role(head), path: head.parameter("path"))
      .filter { $0.sequence > since && (head.parameter("verdict").map($0.isJudged) ?? true) }
    return .array(entries.prefix(max(0, limit)).map(JournalJSON.json))
  }

  private var addresses: JSONValue {
    .object([
      ("authorization_server", .string(simulation.authorizationServer.url)),
      ("api", .string(simulation.api.url)),
      (
        "operations",
        .strings([
          "GET /settings", "PATCH /settings", "GET /faults", "POST /faults", "DELETE /faults", "DELETE /faults/RULE",
          "GET /gates/NAME", "POST /gates/NAME/open", "POST /gates/NAME/close", "POST /nonces/expire?role=as|api",
          "POST /tokens/revoke", "POST /grants", "GET /grants", "GET /grants/GRANT", "POST /grants/GRANT/revoke",
          "GET /journal?role=&path=&verdict=&since=&limit=", "DELETE /journal", "GET /counts",
          "POST /reset",
        ])
      ),
    ])
  }
}

extension Answer {
  /// Ends a text so that a shell's prompt stands on its own line.
  fileprivate func endingLine() -> Answer {
    guard case .bytes(let bytes) = body, !bytes.isEmpty, bytes.last != UInt8(ascii: "\n") else { return self }
    var answer = self
    answer.body = .bytes(bytes + [UInt8(ascii: "\n")])
    return answer
  }
}

extension JournalEntry {
  fileprivate func isJudged(_ name: String) -> Bool { verdict?.rawValue == name }
}
