import HTTPWire

/// Parses field lines for challenges, holds what keeps to the grammar to it, and the rest to what must hold of any text.
enum ChallengeTarget {
  /// A byte that no field value may hold ends a line.
  static func run(_ bytes: Bytes) {
    let texts = bytes.split(omittingEmptySubsequences: false) { !Grammar.isFieldValueByte($0) }
      .map { String(decoding: $0, as: UTF8.self) }
    let lines = texts.map { Bytes($0.utf8) }
    let challenges = Challenge.parse(texts)
    checkOrigin(of: challenges, in: lines)
    if let expected = ChallengeGrammar(lines).challenges {
      check(challenges, equals: expected, "parser and grammar differ")
    }

    let serialised = challenges.map(\.serialised)
    check(Challenge.parse(serialised), equals: challenges, "serialised and parsed again it differs")
    // Several lines are one list. RFC 9110 §5.3
    let joined = serialised.joined(separator: ", ")
    check(Challenge.parse([joined]), equals: challenges, "on one line it differs")

    for count in lines.indices.suffix(3) {
      check(
        isBeginning(Challenge.parse(Array(texts[..<count])), of: challenges), "line \(count) changes what was before")
    }
    guard challenges.count < Challenge.challengesMax else { return }
    let nonce = Challenge(scheme: "DPoP", parameters: [.init(name: "error", value: "use_dpop_nonce")])
    check(Challenge.parse(texts + [nonce.serialised]), equals: challenges + [nonce], "a challenge behind it is lost")
  }

  /// Nothing is in a challenge that was not sent, and in this order.
  private static func checkOrigin(of challenges: [Challenge], in lines: [Bytes]) {
    check(challenges.count <= Challenge.challengesMax, "\(challenges.count) challenges")
    let sent = Bytes(lines.joined(separator: [0x0A]))
    var rest = sent[...]
    func pass(_ text: String, _ what: String) {
      guard let end = end(of: Bytes(text.utf8), in: rest) else {
        fatalError("broken property: \(what) \(text) was not sent")
      }
      rest = rest[end...]
    }
    for challenge in challenges {
      check(Grammar.isToken(challenge.scheme.utf8), "scheme \(challenge.scheme)")
      pass(challenge.scheme, "scheme")
      if let token68 = challenge.token68 { pass(token68, "token68") }
      check(challenge.parameters.count <= Challenge.parametersMax, "\(challenge.parameters.count) parameters")
      for parameter in challenge.parameters {
        check(Grammar.isToken(parameter.name.utf8), "parameter name \(parameter.name)")
        check(Bytes(parameter.name.utf8), equals: Grammar.lowercased(parameter.name.utf8), "case of \(parameter.name)")
        pass(parameter.name, "parameter name")
        pass(parameter.value, "value")
      }
    }
  }

  /// Where the first run of bytes ends that says `text`: the case of letters and the backslashes before quoted bytes
  /// aside.
  private static func end(of text: Bytes, in sent: ArraySlice<UInt8>) -> Int? {
    for start in sent.indices {
      // Every place the text so far may have ended: a backslash is a byte of its own or stands before a quoted one.
      var ends: Set<Int> = [start]
      for byte in text {
        let escaped = ends.filter { $0 + 1 < sent.endIndex && sent[$0] == UInt8(ascii: "\\") && sent[$0 + 1] == byte }
        let plain = ends.filter {
          $0 < sent.endIndex && Grammar.lowercased(sent[$0]) == Grammar.lowercased(byte)
        }
        ends = Set(plain.map { $0 + 1 } + escaped.map { $0 + 2 })
        if ends.isEmpty { break }
      }
      if let end = ends.min() { return end }
    }
    return text.isEmpty ? sent.endIndex : nil
  }

  /// Whether `some` are the first of `all`, the last of them perhaps with fewer parameters.
  private static func isBeginning(_ some: [Challenge], of all: [Challenge]) -> Bool {
    guard let last = some.last else { return true }
    guard some.count <= all.count else { return false }
    let whole = all[some.count - 1]
    return some.dropLast().elementsEqual(all.prefix(some.count - 1)) && last.scheme == whole.scheme
      && last.token68 == whole.token68 && whole.parameters.starts(with: last.parameters)
  }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzChallenge(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  ChallengeTarget.run(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
