import HTTPWire

/// The challenges of field lines that keep to the letter of RFC 9110 §11.6.1 (a quoted string may end with its line),
/// found by cutting the lines at the commas between elements and looking at each element alone.
struct ChallengeGrammar {
  /// Nil when a line does not keep to the grammar, or more was sent than the parser looks at.
  private(set) var challenges: [Challenge]?

  init(_ lines: [Bytes]) {
    var found: [Challenge] = []
    for element in lines.flatMap(Self.elements) where !element.isEmpty {
      if let parameter = Self.parameter(element) {
        // A parameter of no challenge goes nowhere.
        if let challenge = found.popLast() { found.append(challenge.adding(parameter)) }
      } else if let challenge = Self.challenge(element) {
        found.append(challenge)
      } else {
        return
      }
    }
    guard found.count <= Challenge.challengesMax,
      found.allSatisfy({ $0.parameters.count <= Challenge.parametersMax })
    else { return }
    challenges = found
  }

  /// What stands between the commas outside quoted strings, trimmed.
  private static func elements(of line: Bytes) -> [Bytes] {
    var elements: [Bytes] = [[]]
    var isQuoted = false
    var isEscaped = false
    for byte in line {
      if isEscaped {
        isEscaped = false
      } else if isQuoted, byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isQuoted.toggle()
      } else if byte == UInt8(ascii: ","), !isQuoted {
        elements.append([])
        continue
      }
      elements[elements.count - 1].append(byte)
    }
    // What the line's end cuts off.
    if isEscaped { elements[elements.count - 1].append(UInt8(ascii: "\\")) }
    if isQuoted { elements[elements.count - 1].append(UInt8(ascii: "\"")) }
    return elements.map { Grammar.trimmed($0) }
  }

  /// `auth-scheme [ 1*SP ( token68 / auth-param ) ]`
  private static func challenge(_ element: Bytes) -> Challenge? {
    let name = element.prefix { !Grammar.isBlank($0) }
    let rest = Grammar.trimmed(element[name.count...])
    guard Grammar.isToken(name) else { return nil }
    let scheme = String(decoding: name, as: UTF8.self)
    if rest.isEmpty { return Challenge(scheme: scheme) }
    let unpadded = rest.prefix { $0 != UInt8(ascii: "=") }
    let isToken68 =
      !unpadded.isEmpty && unpadded.allSatisfy { Grammar.isAlphanumeric($0) || "-._~+/".utf8.contains($0) }
      && rest[unpadded.count...].allSatisfy { $0 == UInt8(ascii: "=") }
    if isToken68 { return Challenge(scheme: scheme, token68: String(decoding: rest, as: UTF8.self)) }
    return parameter(rest).map { Challenge(scheme: scheme, parameters: [$0]) }
  }

  /// `token BWS "=" BWS ( token / quoted-string )`
  private static func parameter(_ element: Bytes) -> Challenge.Parameter? {
    guard let equals = element.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    let name = Grammar.trimmed(element[..<equals])
    let sent = Grammar.trimmed(element[(equals + 1)...])
    guard Grammar.isToken(name), let value = Grammar.isToken(sent) ? sent : unquoted(sent) else { return nil }
    return Challenge.Parameter(
      name: String(decoding: Grammar.lowercased(name), as: UTF8.self), value: String(decoding: value, as: UTF8.self))
  }

  /// RFC 9110 §5.6.4
  private static func unquoted(_ text: Bytes) -> Bytes? {
    guard text.count >= 2, text.first == UInt8(ascii: "\""), text.last == UInt8(ascii: "\"") else { return nil }
    var value = Bytes()
    var rest = text.dropFirst().dropLast()
    while let byte = rest.popFirst() {
      guard byte != UInt8(ascii: "\"") else { return nil }
      if byte == UInt8(ascii: "\\") {
        guard let escaped = rest.popFirst() else { return nil }
        value.append(escaped)
      } else {
        value.append(byte)
      }
    }
    return value
  }
}

extension Challenge {
  fileprivate func adding(_ parameter: Parameter) -> Challenge {
    Challenge(scheme: scheme, token68: token68, parameters: parameters + [parameter])
  }

  /// One line that says the same, to the letter of the grammar.
  var serialised: String {
    let values = (token68.map { [$0] } ?? []) + parameters.map { "\($0.name)=\(QuotedString.encode($0.value))" }
    return values.isEmpty ? scheme : "\(scheme) \(values.joined(separator: ", "))"
  }
}
