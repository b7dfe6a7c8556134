/// `application/x-www-form-urlencoded`, in UTF-8. RFC 6749 Appendix B
package enum FormURLEncoded {
  package static let contentType = "application/x-www-form-urlencoded"
  /// More pairs are refused by `decode`.
  package static let pairsMax = 1_000

  /// Keeps the order and duplicates of `pairs`; letters, digits and `-._*` stay, a space becomes `+`.
  package static func encode(_ pairs: [(String, String)]) -> [UInt8] {
    var encoded: [UInt8] = []
    for (index, pair) in pairs.enumerated() {
      if index > 0 { encoded.append(UInt8(ascii: "&")) }
      append(pair.0, to: &encoded)
      encoded.append(UInt8(ascii: "="))
      append(pair.1, to: &encoded)
    }
    return encoded
  }

  /// The text of one name or value, encoded.
  package static func encode(_ text: String) -> String {
    var encoded: [UInt8] = []
    append(text, to: &encoded)
    return String(decoding: encoded, as: UTF8.self)
  }

  /// The pairs in order, duplicates kept; nil for a broken percent-encoding, invalid UTF-8 or too many pairs.
  package static func decode(_ bytes: [UInt8]) -> [(String, String)]? {
    var pairs: [(String, String)] = []
    for part in bytes.split(separator: UInt8(ascii: "&")) {
      guard pairs.count < pairsMax else { return nil }
      let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
      guard let name = text(part[..<equals]), let value = text(part[equals...].dropFirst()) else { return nil }
      pairs.append((name, value))
    }
    return pairs
  }

  private static func append(_ text: String, to encoded: inout [UInt8]) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: " "): encoded.append(UInt8(ascii: "+"))
      case _ where ASCII.isLetter(byte) || ASCII.isDigit(byte), 0x2A, 0x2D, 0x2E, 0x5F: encoded.append(byte)
      default: encoded += [UInt8(ascii: "%"), ASCII.upperHexDigit(byte >> 4), ASCII.upperHexDigit(byte & 0x0F)]
      }
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    let spaced = bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
    return PercentEncoding.decode(bytes: spaced).flatMap { String(validating: $0, as: UTF8.self) }
  }
}
