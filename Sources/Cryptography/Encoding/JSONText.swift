/// Writes JSON string literals.
enum JSONText {
  /// `text` in quotes, with what JSON wants escaped. RFC 8259 §7
  static func quoted(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\":
        literal.unicodeScalars.append("\\")
        literal.unicodeScalars.append(scalar)
      case "\u{0}"..<"\u{20}":
        let digits = String(scalar.value, radix: 16)
        literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }
}
