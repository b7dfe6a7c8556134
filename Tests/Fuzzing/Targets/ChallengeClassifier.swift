import HTTPWire
import OAuth

/// Classifies the challenges of field lines and the body behind them, whose answer decides whether a request is sent
/// again: holds it to a second reading, and to what must not matter.
enum ChallengeClassifierTarget {
  /// A byte that no field value may hold ends a line; the first NUL ends the lines, and a body follows.
  static func run(_ bytes: Bytes) {
    let end = bytes.firstIndex(of: 0)
    let lines = bytes[..<(end ?? bytes.endIndex)].split(omittingEmptySubsequences: false) {
      !Grammar.isFieldValueByte($0)
    }
    let texts = lines.map { String(decoding: $0, as: UTF8.self) }
    for proofWasSent in [true, false] { checkLines(texts, proofWasSent) }
    if let end { checkBody(Bytes(bytes[(end + 1)...])) }
  }

  // MARK: Field lines

  private static func checkLines(_ lines: [String], _ proofWasSent: Bool) {
    let verdict = verdict(lines, proofWasSent)
    let challenges = Challenge.parse(lines)
    let read = ChallengeGrammar(lines.map { Bytes($0.utf8) }).challenges ?? challenges
    check(verdict, equals: self.verdict(of: read, proofWasSent), "two readings, proof \(proofWasSent), of \(lines)")
    checkOrigin(of: verdict, in: lines, proofWasSent)

    // What must not matter: how it is put, the order, the case of letters, and what names no error.
    let serialised = challenges.map(\.serialised)
    let others = [
      "serialised": serialised, "on one line": [serialised.joined(separator: ", ")],
      "in reverse": serialised.reversed(), "in other letters": challenges.map(\.inOtherLetters.serialised),
      "with more behind it": lines + ["Basic realm=\"error=use_dpop_nonce\", DPoP algs=\"error\", Negotiate YWJj=="],
    ]
    for (what, others) in others { check(self.verdict(others, proofWasSent), equals: verdict, what) }

    guard challenges.count < Challenge.challengesMax else { return }
    let demand = lines + ["DPoP error=\"use_dpop_nonce\""]
    let expected = proofWasSent ? .useDPoPNonce : verdict == .bare ? .otherError : verdict
    check(self.verdict(demand, proofWasSent), equals: expected, "with a demand for a nonce behind it")
  }

  private static func verdict(_ lines: [String], _ proofWasSent: Bool) -> ChallengeVerdict {
    ChallengeClassifier.verdict(fieldValues: lines, proofWasSent: proofWasSent)
  }

  /// A second reading: which errors are named at all, and the gravest of them. RFC 6750 §3.1, RFC 9449 §7.1, RFC 9470 §3
  private static func verdict(of challenges: [Challenge], _ proofWasSent: Bool) -> ChallengeVerdict {
    func errors(of scheme: String?) -> [String] {
      challenges.filter { scheme == nil || $0.lowerCaseScheme == scheme }
        .compactMap { challenge in challenge.parameters.first { $0.name == "error" }?.value }
    }
    let toDPoP = proofWasSent ? errors(of: "dpop") : []
    let toUs = toDPoP + errors(of: "bearer")
    if toDPoP.contains("use_dpop_nonce") { return .useDPoPNonce }
    if toUs.contains("insufficient_user_authentication") { return .insufficientUserAuthentication }
    if toUs.contains("insufficient_scope") { return .insufficientScope }
    if toUs.contains("invalid_token") { return .invalidToken }
    return errors(of: nil).isEmpty ? .bare : .otherError
  }

  /// No error is found that was not sent, nor a demand for a nonce by an answer to a bearer token.
  private static func checkOrigin(of verdict: ChallengeVerdict, in lines: [String], _ proofWasSent: Bool) {
    let code =
      switch verdict {
      case .bare: ""
      case .otherError: "error"
      case .useDPoPNonce: "use_dpop_nonce"
      case .invalidToken: "invalid_token"
      case .insufficientScope: "insufficient_scope"
      case .insufficientUserAuthentication: "insufficient_user_authentication"
      }
    // A backslash may stand before every byte of a quoted string.
    let sent = lines.map { line in Bytes(line.utf8.filter { $0 != UInt8(ascii: "\\") }) }
    let isSent = sent.contains { $0.contains(code) || verdict == .otherError && Grammar.lowercased($0).contains(code) }
    check(code.isEmpty || isSent, "\(verdict), which was not sent in \(lines)")
    guard verdict == .useDPoPNonce else { return }
    check(proofWasSent, "a nonce is demanded of a bearer token")
    check(sent.contains { Grammar.lowercased($0).contains("dpop") }, "a nonce is demanded by another scheme: \(lines)")
  }

  // MARK: Bodies

  private static func checkBody(_ body: Bytes) {
    let demands = ChallengeClassifier.bodyDemandsNonce(body)
    if let object = FlatObject(body) {
      let isUnique = Set(object.members.map(\.name)).count == object.members.count
      let expected = isUnique && object.members.contains { $0 == ("error", "use_dpop_nonce") }
      check(demands, equals: expected && body.count <= ResponseSignal.peekBytesMax, "two readings of \(text(body))")
    }
    guard demands else { return }
    check(body.count <= ResponseSignal.peekBytesMax, "\(body.count) bytes demand a nonce")
    let (core, room) = (FlatObject.trimmed(body), ResponseSignal.peekBytesMax - body.count)
    for (what, other, demands) in [
      ("as long as may be", body + Bytes(repeating: 0x20, count: room), true),
      ("too long", body + Bytes(repeating: 0x20, count: room + 1), false),
      ("trimmed", core, true), ("cut", core.dropLast(), false), ("with more behind it", core + Bytes("{}".utf8), false),
      ("in a list", Bytes("[".utf8) + core + Bytes("]".utf8), false),
      ("in an object", Bytes("{\"error\":".utf8) + core + Bytes("}".utf8), false),
      ("with two errors", core.dropLast() + Bytes(",\"error\":\"use_dpop_nonce\"}".utf8), false),
    ] {
      check(ChallengeClassifier.bodyDemandsNonce(other), equals: demands, "\(what): \(text(core))")
    }
    guard let json = try? JSONValue(parsing: body) else { fatalError("broken property: no JSON demands a nonce") }
    check(ChallengeClassifier.bodyDemandsNonce(json.serialised()), "serialised it demands none: \(text(core))")
  }
}

extension Challenge {
  fileprivate var lowerCaseScheme: String { String(decoding: Grammar.lowercased(scheme.utf8), as: UTF8.self) }

  /// With small letters for large ones and the other way round wherever case says nothing.
  fileprivate var inOtherLetters: Challenge {
    func swapped(_ text: String) -> String {
      String(decoding: text.utf8.map { Grammar.isLetter($0) ? $0 ^ 0x20 : $0 }, as: UTF8.self)
    }
    return Challenge(
      scheme: swapped(scheme), token68: token68,
      parameters: parameters.map { Parameter(name: swapped($0.name), value: $0.value) })
  }
}

extension Bytes {
  fileprivate func contains(_ text: String) -> Bool {
    let text = Bytes(text.utf8)
    return indices.contains { self[$0...].starts(with: text) }
  }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChallengeClassifier(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  ChallengeClassifierTarget.run(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
