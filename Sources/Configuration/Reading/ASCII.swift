/// The character classes of the grammars the configuration touches.
enum ASCII {
  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// RFC 9110 §5.6.2 `token`: methods and field names.
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { isAlphanumeric($0) || "!#$%&'*+-.^_`|~".utf8.contains($0) }
  }

  /// RFC 6749 §3.3 `scope-token`.
  static func isScopeToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
  }

  /// RFC 6749 appendix A `VSCHAR`: client identifiers.
  static func isPrintable(_ text: String) -> Bool { text.utf8.allSatisfy { (0x20...0x7E).contains($0) } }

  /// RFC 3986 §3.3 `pchar`, without percent-encodings.
  static func isPathCharacter(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "-._~!$&'()*+,;=:@".utf8.contains(byte) }

  /// RFC 3986 §4.3 `absolute-URI`, as far as its first character that can't stand there.
  static func isAbsoluteURI(_ text: String) -> Bool {
    let scheme = text.prefix { $0 != ":" }
    return scheme.count < text.count && scheme.first?.isLetter == true
      && scheme.utf8.allSatisfy { isAlphanumeric($0) || "+-.".utf8.contains($0) } && isPrintable(text)
      && !text.contains("#") && !text.contains(" ")
  }

  /// RFC 1123 §2.1, in lower case.
  static func isLabel(_ text: String) -> Bool {
    guard let first = text.utf8.first, let last = text.utf8.last, text.utf8.count <= 63 else { return false }
    let hyphen = UInt8(ascii: "-")
    return first != hyphen && last != hyphen
      && text.utf8.allSatisfy {
        $0 == hyphen || isAlphanumeric($0) && !(UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
      }
  }
}
