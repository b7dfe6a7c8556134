import HTTPWire

/// Decodes one value that is encoded as in a form. RFC 6749 Appendix B
enum FormText {
  static func decode(_ text: some StringProtocol) -> String? {
    PercentEncoding.decode(bytes: text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }).flatMap {
      String(validating: $0, as: UTF8.self)
    }
  }
}
