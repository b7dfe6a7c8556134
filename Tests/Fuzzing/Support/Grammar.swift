/// The grammar of RFC 9110, RFC 9112 and RFC 3986, as slow and as plain as it can be written: what the parsers answer is
/// held to this. Nothing here is shared with them.
enum Grammar {
  /// RFC 9110 §5.6.2
  static func isToken(_ text: some Collection<UInt8>) -> Bool {
    !text.isEmpty && text.allSatisfy(isTokenByte)
  }

  static func isTokenByte(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || marks.contains(byte) }

  private static let marks = Array("!#$%&'*+-.^_`|~".utf8)

  /// RFC 9110 §5.5
  static func isFieldValue(_ text: some Collection<UInt8>) -> Bool { text.allSatisfy(isFieldValueByte) }

  static func isFieldValueByte(_ byte: UInt8) -> Bool {
    byte == 0x09 || (0x20...0x7E).contains(byte) || byte >= 0x80
  }

  static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }
  static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) }
  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  static func trimmed(_ text: some BidirectionalCollection<UInt8>) -> Bytes {
    var rest = Array(text)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return Array(rest.drop { isBlank($0) })
  }

  static func lowercased(_ text: some Collection<UInt8>) -> Bytes { text.map(lowercased) }

  static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }

  /// A decimal number below 2^63. RFC 9110 §8.6
  static func length(_ digits: Bytes) -> UInt64? {
    guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
    guard let value = UInt64(String(decoding: digits, as: UTF8.self)), value < 1 << 63 else { return nil }
    return value
  }

  /// A host with an optional port, in the narrow form the gateway accepts. RFC 9110 §7.2
  static func isHostAndPort(_ text: Bytes) -> Bool {
    let name: ArraySlice<UInt8>
    if text.first == UInt8(ascii: "[") {
      guard let closing = text.firstIndex(of: UInt8(ascii: "]")) else { return false }
      let address = text[1..<closing]
      guard address.count >= 2, address.allSatisfy({ isHexDigit($0) || $0 == 0x3A || $0 == 0x2E }) else { return false }
      name = text[...closing]
    } else {
      name = text.prefix { $0 != UInt8(ascii: ":") }
      guard !name.isEmpty, name.allSatisfy({ isAlphanumeric($0) || "-._~".utf8.contains($0) }) else { return false }
    }
    let port = text.dropFirst(name.count)
    guard let colon = port.first else { return true }
    let digits = port.dropFirst()
    guard colon == UInt8(ascii: ":"), (1...5).contains(digits.count), digits.allSatisfy(isDigit) else { return false }
    return (1...65_535).contains(Int(String(decoding: digits, as: UTF8.self)) ?? 0)
  }

  /// Whether some server would resolve a segment of `path` as `.` or `..`. RFC 3986 §5.2.4
  static func hasDotSegments(_ path: Bytes) -> Bool {
    var decoded = Bytes()
    var rest = path[...]
    while let byte = rest.first {
      let digits = rest.dropFirst().prefix(2)
      if byte == UInt8(ascii: "%"), digits.count == 2, digits.allSatisfy(isHexDigit) {
        decoded.append(UInt8(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0)
        rest = rest.dropFirst(3)
      } else {
        decoded.append(byte)
        rest = rest.dropFirst()
      }
    }
    let segments = decoded.split(omittingEmptySubsequences: false) { $0 == 0x2F || $0 == 0x5C }
    return segments.contains { [Array(".".utf8), Array("..".utf8)].contains(Array($0.prefix { $0 != 0x3B })) }
  }
}
