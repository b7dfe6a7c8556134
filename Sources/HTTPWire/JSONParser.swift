/// Bounds and choices of the JSON parser.
package struct JSONLimits: Sendable {
  package var bytesMax: Int
  package var depthMax: Int
  /// Whether an object may name a member twice. Which one counts differs from parser to parser, hence the default.
  package var allowsDuplicateNames: Bool

  package init(bytesMax: Int = 1_048_576, depthMax: Int = 64, allowsDuplicateNames: Bool = false) {
    self.bytesMax = bytesMax
    self.depthMax = min(depthMax, 64)
    self.allowsDuplicateNames = allowsDuplicateNames
  }
}

/// Why bytes are not JSON, and where.
package struct JSONViolation: Error, Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    case syntax, number, string, escape, loneSurrogate, utf8, duplicateName, tooDeep, tooLarge
  }

  package let kind: Kind
  /// In bytes from the start.
  package let offset: Int

  package init(kind: Kind, offset: Int) {
    self.kind = kind
    self.offset = offset
  }
}

extension JSONValue {
  /// Parses one JSON text with nothing but whitespace around it.
  ///
  /// - Throws: `JSONViolation`.
  package init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONViolation) {
    guard bytes.count <= limits.bytesMax else { throw JSONViolation(kind: .tooLarge, offset: limits.bytesMax) }
    var parser = JSONParser(bytes: bytes, limits: limits)
    self = try parser.parseText()
  }

  package init(parsing text: String, limits: JSONLimits = JSONLimits()) throws(JSONViolation) {
    try self.init(parsing: Array(text.utf8), limits: limits)
  }
}

private struct JSONParser {
  let bytes: [UInt8]
  let limits: JSONLimits
  private var at = 0
  private var depth = 0

  init(bytes: [UInt8], limits: JSONLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  mutating func parseText() throws(JSONViolation) -> JSONValue {
    let value = try parseValue()
    skipWhitespace()
    guard at == bytes.count else { throw violation(.syntax) }
    return value
  }

  private func violation(_ kind: JSONViolation.Kind) -> JSONViolation {
    JSONViolation(kind: kind, offset: at)
  }

  /// The byte at the cursor; 0, which begins nothing, at the end.
  private var current: UInt8 { at < bytes.count ? bytes[at] : 0 }

  private mutating func skipWhitespace() {
    while at < bytes.count, isWhitespace(bytes[at]) { at += 1 }
  }

  private func isWhitespace(_ byte: UInt8) -> Bool {
    ASCII.isWhitespace(byte) || byte == ASCII.lineFeed || byte == ASCII.carriageReturn
  }

  private mutating func parseValue() throws(JSONViolation) -> JSONValue {
    skipWhitespace()
    switch current {
    case UInt8(ascii: "{"): return try nested { parser throws(JSONViolation) in try parser.parseObject() }
    case UInt8(ascii: "["): return try nested { parser throws(JSONViolation) in try parser.parseArray() }
    case UInt8(ascii: "\""): return .string(try parseString())
    case UInt8(ascii: "t"): return try parseLiteral("true", .bool(true))
    case UInt8(ascii: "f"): return try parseLiteral("false", .bool(false))
    case UInt8(ascii: "n"): return try parseLiteral("null", .null)
    default: return .number(try parseNumber())
    }
  }

  private mutating func nested(
    _ parse: (inout JSONParser) throws(JSONViolation) -> JSONValue
  ) throws(JSONViolation) -> JSONValue {
    guard depth < limits.depthMax else { throw violation(.tooDeep) }
    depth += 1
    at += 1
    let value = try parse(&self)
    depth -= 1
    return value
  }

  private mutating func parseLiteral(_ text: String, _ value: JSONValue) throws(JSONViolation) -> JSONValue {
    guard bytes[at...].starts(with: text.utf8) else { throw violation(.syntax) }
    at += text.utf8.count
    return value
  }

  private mutating func parseArray() throws(JSONViolation) -> JSONValue {
    var elements: [JSONValue] = []
    skipWhitespace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      elements.append(try parseValue())
      skipWhitespace()
      if take(UInt8(ascii: "]")) { return .array(elements) }
      guard take(UInt8(ascii: ",")) else { throw violation(.syntax) }
    }
  }

  private mutating func parseObject() throws(JSONViolation) -> JSONValue {
    var members: [(String, JSONValue)] = []
    var names: Set<String> = []
    skipWhitespace()
    if take(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipWhitespace()
      guard current == UInt8(ascii: "\"") else { throw violation(.syntax) }
      let name = try parseString()
      guard names.insert(name).inserted || limits.allowsDuplicateNames else { throw violation(.duplicateName) }
      skipWhitespace()
      guard take(UInt8(ascii: ":")) else { throw violation(.syntax) }
      members.append((name, try parseValue()))
      skipWhitespace()
      if take(UInt8(ascii: "}")) { return .object(members) }
      guard take(UInt8(ascii: ",")) else { throw violation(.syntax) }
    }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard current == byte, at < bytes.count else { return false }
    at += 1
    return true
  }

  /// RFC 8259 §6
  private mutating func parseNumber() throws(JSONViolation) -> String {
    let start = at
    _ = take(UInt8(ascii: "-"))
    guard ASCII.isDigit(current) else { throw violation(at == start ? .syntax : .number) }
    if take(UInt8(ascii: "0")) {
      guard !ASCII.isDigit(current) else { throw violation(.number) }
    } else {
      skipDigits()
    }
    if take(UInt8(ascii: ".")) {
      guard ASCII.isDigit(current) else { throw violation(.number) }
      skipDigits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      guard ASCII.isDigit(current) else { throw violation(.number) }
      skipDigits()
    }
    return String(decoding: bytes[start..<at], as: UTF8.self)
  }

  private mutating func skipDigits() {
    while ASCII.isDigit(current) { at += 1 }
  }

  /// RFC 8259 §7
  private mutating func parseString() throws(JSONViolation) -> String {
    let start = at
    at += 1
    var content: [UInt8] = []
    while true {
      let runStart = at
      while at < bytes.count, bytes[at] >= 0x20, bytes[at] != UInt8(ascii: "\""), bytes[at] != UInt8(ascii: "\\") {
        at += 1
      }
      content += bytes[runStart..<at]
      if take(UInt8(ascii: "\"")) { break }
      guard take(UInt8(ascii: "\\")) else { throw violation(.string) }
      content += try parseEscape()
    }
    guard let text = String(validating: content, as: UTF8.self) else {
      throw JSONViolation(kind: .utf8, offset: start)
    }
    return text
  }

  private mutating func parseEscape() throws(JSONViolation) -> [UInt8] {
    let byte = current
    at += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "u"): return try parseUnicodeEscape()
    default: throw violation(.escape)
    }
  }

  private mutating func parseUnicodeEscape() throws(JSONViolation) -> [UInt8] {
    var code = try parseFourDigits()
    if 0xD800...0xDBFF ~= code {
      guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw violation(.loneSurrogate) }
      let low = try parseFourDigits()
      guard 0xDC00...0xDFFF ~= low else { throw violation(.loneSurrogate) }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw violation(.loneSurrogate) }
    return Array(String(Character(scalar)).utf8)
  }

  private mutating func parseFourDigits() throws(JSONViolation) -> UInt32 {
    var code: UInt32 = 0
    for _ in 0..<4 {
      guard let digit = ASCII.hexValue(current), at < bytes.count else { throw violation(.escape) }
      code = code << 4 | UInt32(digit)
      at += 1
    }
    return code
  }
}
