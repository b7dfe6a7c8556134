/// A JSON value as JOSE headers and keys need it.
indirect enum JSONTree: Equatable {
  case null
  case bool(Bool)
  /// The digits as they stood.
  case number(String)
  case string(String)
  case array([JSONTree])
  case object([String: JSONTree])

  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }
}

/// Reads one JSON object strictly.
///
/// It exists because no decoder of Foundation's can refuse a repeated member, and which of two `alg` counts must not
/// depend on who reads the header. RFC 7515 §4, RFC 8259
struct JSONReader {
  static let depthMax = 16

  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  /// The members of the object `bytes` consists of; `nil` if they are anything else.
  static func object(_ bytes: [UInt8]) -> [String: JSONTree]? {
    bytes.withUnsafeBytes { buffer in
      var reader = JSONReader(bytes: buffer)
      reader.skipWhitespace()
      guard reader.peek() == UInt8(ascii: "{"), case .object(let members) = reader.value(depth: 1) else { return nil }
      reader.skipWhitespace()
      return reader.position == buffer.count ? members : nil
    }
  }

  private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipWhitespace() {
    while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
  }

  private mutating func value(depth: Int) -> JSONTree? {
    guard depth <= Self.depthMax else { return nil }
    switch peek() {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return literal("true", .bool(true))
    case UInt8(ascii: "f"): return literal("false", .bool(false))
    case UInt8(ascii: "n"): return literal("null", .null)
    default: return number()
    }
  }

  private mutating func object(depth: Int) -> JSONTree? {
    position += 1
    var members: [String: JSONTree] = [:]
    skipWhitespace()
    if take(UInt8(ascii: "}")) { return .object(members) }
    while true {
      skipWhitespace()
      guard let name = string() else { return nil }
      skipWhitespace()
      guard take(UInt8(ascii: ":")) else { return nil }
      skipWhitespace()
      guard let member = value(depth: depth + 1), members.updateValue(member, forKey: name) == nil else { return nil }
      skipWhitespace()
      if take(UInt8(ascii: "}")) { return .object(members) }
      guard take(UInt8(ascii: ",")) else { return nil }
    }
  }

  private mutating func array(depth: Int) -> JSONTree? {
    position += 1
    var elements: [JSONTree] = []
    skipWhitespace()
    if take(UInt8(ascii: "]")) { return .array(elements) }
    while true {
      skipWhitespace()
      guard let element = value(depth: depth + 1) else { return nil }
      elements.append(element)
      skipWhitespace()
      if take(UInt8(ascii: "]")) { return .array(elements) }
      guard take(UInt8(ascii: ",")) else { return nil }
    }
  }

  private mutating func literal(_ word: StaticString, _ value: JSONTree) -> JSONTree? {
    for index in 0..<word.utf8CodeUnitCount {
      guard take(word.utf8Start[index]) else { return nil }
    }
    return value
  }

  private mutating func number() -> JSONTree? {
    let start = position
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) {
      guard digits() else { return nil }
    }
    if take(UInt8(ascii: ".")) {
      guard digits() else { return nil }
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
      guard digits() else { return nil }
    }
    return .number(String(decoding: bytes[start..<position], as: UTF8.self))
  }

  private mutating func digits() -> Bool {
    let start = position
    while let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    return position > start
  }

  private mutating func string() -> String? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    var text: [UInt8] = []
    while let byte = peek() {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escape() else { return nil }
        text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      case 0..<0x20: return nil
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func escape() -> Unicode.Scalar? {
    guard let byte = peek() else { return nil }
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return unicodeEscape()
    default: return nil
    }
  }

  private mutating func unicodeEscape() -> Unicode.Scalar? {
    guard let unit = codeUnit() else { return nil }
    guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(UInt32(unit)) }  // nil for a lone trail surrogate
    guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")), let trail = codeUnit(), UTF16.isTrailSurrogate(trail)
    else { return nil }
    return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
  }

  private mutating func codeUnit() -> UInt16? {
    guard bytes.count - position >= 4 else { return nil }
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue else { return nil }
      unit = unit << 4 | UInt16(digit)
      position += 1
    }
    return unit
  }
}
