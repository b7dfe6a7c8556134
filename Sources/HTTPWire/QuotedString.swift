/// RFC 9110 §5.6.4
package enum QuotedString {
  /// `text` in quotes, with `"` and `\` escaped. Control bytes, which cannot be sent, become spaces.
  package static func encode(_ text: some StringProtocol) -> String {
    var encoded: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { encoded.append(UInt8(ascii: "\\")) }
      encoded.append(ASCII.isFieldValueByte(byte) ? byte : ASCII.space)
    }
    encoded.append(UInt8(ascii: "\""))
    return String(decoding: encoded, as: UTF8.self)
  }
}
