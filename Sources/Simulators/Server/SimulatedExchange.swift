import HTTPWire

/// One request from its head to its answer, with everything that is scripted to go wrong on the way.
struct SimulatedExchange<Service: SimulatedService> {
  private let service: Service
  private let state: SimulationState
  private let connection: BlockingConnection
  private let head: ReceivedHead
  private let sequence: Int
  private var faults: [Fault]

  init(service: Service, state: SimulationState, connection: BlockingConnection, head: ReceivedHead) {
    self.service = service
    self.state = state
    self.connection = connection
    self.head = head
    sequence = state.journal.open(service.role, connection: connection.number, head)
    faults = state.faults.take(head, at: service.role)
  }

  /// - Throws: what ends the connection at once.
  mutating func run() throws(ConnectionFailure) -> ConnectionFate {
    recordFaults()
    defer { state.journal.update(sequence) { $0.isFinished = true } }

    if try happens(at: .head) { return .closed }
    let admission = judgesByHead ? service.admit(head) : nil
    if case .refused(let outcome) = admission, isSendingBody { return try rejectEarly(outcome) }

    let body = try readBody()
    guard let body else { return .closeGracefully }
    if try happens(at: .before) { return .closed }
    if let fate = try writeScriptedAnswer() { return fate }
    let outcome = outcome(admission ?? service.admit(head), body)
    record(outcome)
    if faults.isEmpty {
      faults = state.faults.take(head, at: service.role, outcome)
      recordFaults()
      if let fate = try writeScriptedAnswer() { return fate }
    }
    if try happens(at: .after) { return .closed }
    return try write(outcome.answer)
  }

  // MARK: Judging

  private var judgesByHead: Bool { service.role == .api && rejection != .afterBody && !isScripted }
  private var rejection: APISettings.Rejection { state.settings.withLock { $0.api.rejection } }
  private var isSendingBody: Bool { head.framing != .none && head.framing != .length(0) }

  private func outcome(_ admission: Admission, _ body: ReceivedBody) -> Outcome {
    switch admission {
    case .refused(let outcome): outcome
    case .granted(let grant): service.outcome(of: head, body, grant)
    }
  }

  private func record(_ outcome: Outcome) {
    state.journal.update(sequence) {
      $0.verdict = outcome.verdict
      $0.detail = outcome.detail
      $0.proof = outcome.proof
      $0.tokenRequest = outcome.tokenRequest
    }
  }

  /// Answers while the body is still on its way.
  private func rejectEarly(_ outcome: Outcome) throws(ConnectionFailure) -> ConnectionFate {
    record(outcome)
    var answer = outcome.answer
    answer.closes = rejection == .earlyThenClose
    let fate = try write(answer)
    if rejection == .earlyThenClose {
      connection.channel.close()
      return .closed
    }
    let body = try connection.readBody(of: head)
    state.journal.update(sequence) { $0.body = body }
    return fate
  }

  // MARK: Reading

  /// - Returns: nil if the body is malformed, which is then answered.
  private func readBody() throws(ConnectionFailure) -> ReceivedBody? {
    if head.expectsContinue, isSendingBody, !faults.contains(.withholdContinue) {
      try connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    do {
      let body = try connection.readBody(of: head)
      state.journal.update(sequence) { $0.body = body }
      return body
    } catch .malformedBody {
      record(Outcome(answer: .text(400, ""), verdict: .malformed, detail: "the chunked coding is broken"))
      var answer = Answer.text(400, "The chunked coding is broken.")
      answer.closes = true
      _ = try write(answer)
      return nil
    }
  }

  // MARK: Faults

  private func recordFaults() {
    let names = faults.map(\.name)
    if !names.isEmpty { state.journal.update(sequence) { $0.faults = names } }
  }

  /// Lets happen what is scripted for this moment, in order.
  ///
  /// - Returns: whether that closed the connection.
  private func happens(at moment: Fault.Moment) throws(ConnectionFailure) -> Bool {
    for fault in faults {
      switch fault {
      case .delay(moment, let milliseconds): try connection.pause(milliseconds: milliseconds)
      case .hold(moment, let gate): try hold(gate, at: moment)
      case .drop(moment, let ending):
        end(ending)
        return true
      case .expireNonces where moment == .head: state.nonces[service.role]?.expireAll()
      case .revokeTokens where moment == .head: state.tokens.revokeAll()
      default: break
      }
    }
    return false
  }

  /// A judged request whose client left is let go: nothing more would come of it.
  private func hold(_ gate: String, at moment: Fault.Moment) throws(ConnectionFailure) {
    try state.faults.gates.wait(at: gate) { milliseconds throws(ConnectionFailure) in
      try connection.pause(milliseconds: milliseconds)
      if moment == .after, connection.channel.hasPeerLeft { throw .channel(.broken) }
    }
  }

  private func end(_ ending: Fault.Ending) {
    switch ending {
    case .close: connection.channel.close()
    case .reset: connection.channel.reset()
    }
  }

  /// Whether the answer is scripted and the request therefore not judged.
  private var isScripted: Bool {
    faults.contains {
      switch $0 {
      case .answer, .raw: true
      default: false
      }
    }
  }

  private func writeScriptedAnswer() throws(ConnectionFailure) -> ConnectionFate? {
    for fault in faults {
      switch fault {
      case .answer(let answer):
        if try happens(at: .after) { return .closed }
        return try write(answer)
      case .raw(let bytes, let keepsOpen):
        if try happens(at: .after) { return .closed }
        state.journal.update(sequence) { $0.isFinished = true }
        try connection.write(bytes)
        return keepsOpen ? .open : .closeGracefully
      default: break
      }
    }
    return nil
  }

  // MARK: Writing

  private func write(_ answer: Answer) throws(ConnectionFailure) -> ConnectionFate {
    var answer = answer
    answer.encoding = answer.encoding ?? state.serverSettings(of: service.role).encoding
    var writer = AnswerWriter(connection: connection, request: head, date: state.date(at: service.role))
    var cut: Fault.Ending?
    var ending: Fault.Ending?
    for fault in faults {
      switch fault {
      case .status(let status): answer.status = status
      case .addFields(let fields): answer.fields += fields
      case .encode(let encoding): answer.encoding = encoding
      case .pace(let pace): writer.spoiling.pace = pace
      case .interim(let status, let fields):
        _ = try AnswerWriter(connection: connection, request: head, date: "")
          .write(Answer(status: status, fields: fields))
      case .truncate(let truncation, let how):
        writer.spoiling.apply(truncation)
        cut = how
      case .closeAfterAnswer(let how): ending = how
      default: break
      }
    }
    if answer.delayMilliseconds > 0 { try connection.pause(milliseconds: answer.delayMilliseconds) }
    let status = answer.status
    // Before the first byte, so that whoever has the answer finds the entry finished.
    state.journal.update(sequence) {
      $0.status = status
      $0.isFinished = true
    }
    let staysOpen = try writer.write(answer)
    if let ending = cut ?? ending {
      end(ending)
      return .closed
    }
    return staysOpen ? .open : .closeGracefully
  }
}

extension Spoiling {
  mutating func apply(_ truncation: Fault.Truncation) {
    switch truncation {
    case .head(let bytes): cutHeadAtByte = bytes
    case .body(let bytes): cutBodyAtByte = bytes
    case .declareMore(let bytes): declaredExcess = bytes
    case .withoutLastChunk: omitsLastChunk = true
    }
  }
}

extension Fault {
  /// As the journal and the admin API call it.
  var name: String {
    switch self {
    case .pass: "pass"
    case .delay: "delay"
    case .hold: "hold"
    case .drop: "drop"
    case .answer: "answer"
    case .raw: "raw"
    case .status: "status"
    case .addFields: "add-fields"
    case .encode: "encode"
    case .truncate: "truncate"
    case .pace: "pace"
    case .interim: "interim"
    case .withholdContinue: "withhold-continue"
    case .closeAfterAnswer: "close-after-answer"
    case .expireNonces: "expire-nonces"
    case .revokeTokens: "revoke-tokens"
    }
  }
}
