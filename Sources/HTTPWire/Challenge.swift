/// One challenge of a `WWW-Authenticate` or `Proxy-Authenticate` field.
///
/// ```swift
/// let challenges = Challenge.parse(response.values(of: "WWW-Authenticate"))
/// let error = challenges.first { $0.isScheme("DPoP") }?["error"]
/// ```
/// RFC 9110 §11.6.1
package struct Challenge: Sendable, Equatable {
  package struct Parameter: Sendable, Equatable {
    /// In lower case.
    package let name: String
    /// Without quotes and escapes.
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// As sent.
  package let scheme: String
  package internal(set) var token68: String?
  /// In order, unknown ones and duplicates too.
  package internal(set) var parameters: [Parameter]

  package init(scheme: String, token68: String? = nil, parameters: [Parameter] = []) {
    self.scheme = scheme
    self.token68 = token68
    self.parameters = parameters
  }

  /// Scheme names are case-insensitive.
  package func isScheme(_ name: String) -> Bool {
    ASCII.equalCaseInsensitively(scheme, name)
  }

  /// The value of the first parameter called `name`, in any case.
  package subscript(name: String) -> String? {
    parameters.first { ASCII.equalCaseInsensitively($0.name, name) }?.value
  }

  /// Bounds of `parse`: what is beyond them is ignored.
  package static let bytesMax = 16_384
  package static let challengesMax = 16
  package static let parametersMax = 32

  /// The challenges of all field lines, in order.
  ///
  /// Lines are one list (RFC 9110 §5.3). What is not a challenge is skipped up to the next comma; a missing comma, an
  /// unquoted value with bytes that want quotes and empty list elements are read as what they can only mean.
  package static func parse(_ fieldValues: [String]) -> [Challenge] {
    var parser = ChallengeParser()
    var bytesLeft = bytesMax
    for value in fieldValues {
      guard bytesLeft > 0 else { break }
      let line = Array(value.utf8.prefix(bytesLeft))
      bytesLeft -= line.count
      parser.parseLine(line)
    }
    return parser.challenges
  }
}

/// Reads the elements of one line after another. Every loop consumes at least a byte.
private struct ChallengeParser {
  var challenges: [Challenge] = []
  /// Set when a challenge beyond the bound was seen, so that its parameters go nowhere.
  private var isFull = false
  private var line: [UInt8] = []
  private var at = 0

  mutating func parseLine(_ bytes: [UInt8]) {
    line = bytes
    at = 0
    while skipSeparators() {
      let start = at
      let name = token()
      if name.isEmpty {
        skipElement()
      } else if let value = parameterValue() {
        add(name, value)
      } else if at == line.count || ASCII.isWhitespace(line[at]) || line[at] == UInt8(ascii: ",") {
        beginChallenge(name)
      } else {
        at = start
        skipElement()
      }
    }
  }

  private mutating func beginChallenge(_ name: ArraySlice<UInt8>) {
    guard challenges.count < Challenge.challengesMax else {
      isFull = true
      return
    }
    challenges.append(Challenge(scheme: String(decoding: name, as: UTF8.self), token68: token68()))
  }

  private mutating func add(_ name: ArraySlice<UInt8>, _ value: [UInt8]) {
    guard !isFull, let last = challenges.indices.last, challenges[last].parameters.count < Challenge.parametersMax
    else { return }
    let parameter = Challenge.Parameter(
      name: ASCII.lowercased(String(decoding: name, as: UTF8.self)), value: String(decoding: value, as: UTF8.self))
    challenges[last].parameters.append(parameter)
  }

  /// `token68` after a scheme: whitespace, at least one of its bytes, any `=`, and then nothing but the end of the
  /// element. RFC 9110 §11.2
  private mutating func token68() -> String? {
    var end = at
    while end < line.count, ASCII.isWhitespace(line[end]) { end += 1 }
    let start = end
    while end < line.count, isToken68Byte(line[end]) { end += 1 }
    guard end > start, start > at else { return nil }
    while end < line.count, line[end] == UInt8(ascii: "=") { end += 1 }
    var next = end
    while next < line.count, ASCII.isWhitespace(line[next]) { next += 1 }
    guard next == line.count || line[next] == UInt8(ascii: ",") else { return nil }
    at = next
    return String(decoding: line[start..<end], as: UTF8.self)
  }

  /// The value when `BWS "=" BWS value` follows; else nil, with nothing consumed.
  private mutating func parameterValue() -> [UInt8]? {
    var equals = at
    while equals < line.count, ASCII.isWhitespace(line[equals]) { equals += 1 }
    guard equals < line.count, line[equals] == UInt8(ascii: "=") else { return nil }
    at = equals + 1
    while at < line.count, ASCII.isWhitespace(line[at]) { at += 1 }
    if at < line.count, line[at] == UInt8(ascii: "\"") { return quotedValue() }
    let start = at
    while at < line.count, line[at] != UInt8(ascii: ","), !ASCII.isWhitespace(line[at]) { at += 1 }
    return Array(line[start..<at])
  }

  /// A quoted string, to its closing quote or, if there is none, to the end of the line. RFC 9110 §5.6.4
  private mutating func quotedValue() -> [UInt8] {
    var value: [UInt8] = []
    at += 1
    while at < line.count {
      let byte = line[at]
      at += 1
      if byte == UInt8(ascii: "\"") {
        if at < line.count, line[at] != UInt8(ascii: ","), !ASCII.isWhitespace(line[at]) { skipElement() }
        return value
      }
      if byte == UInt8(ascii: "\\"), at < line.count {
        value.append(line[at])
        at += 1
      } else {
        value.append(byte)
      }
    }
    return value
  }

  /// Leaves `at` at the next element; false at the end of the line.
  private mutating func skipSeparators() -> Bool {
    while at < line.count, ASCII.isWhitespace(line[at]) || line[at] == UInt8(ascii: ",") { at += 1 }
    return at < line.count
  }

  /// Garbage: up to the next comma that is not inside a closed quoted string.
  private mutating func skipElement() {
    while at < line.count, line[at] != UInt8(ascii: ",") {
      if line[at] == UInt8(ascii: "\""), let closing = closingQuote() { at = closing }
      at += 1
    }
  }

  private func closingQuote() -> Int? {
    var next = at + 1
    while next < line.count {
      if line[next] == UInt8(ascii: "\"") { return next }
      next += line[next] == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }

  private mutating func token() -> ArraySlice<UInt8> {
    let start = at
    while at < line.count, ASCII.isTokenByte(line[at]) { at += 1 }
    return line[start..<at]
  }

  private func isToken68Byte(_ byte: UInt8) -> Bool {
    ASCII.isUnreserved(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
  }
}
