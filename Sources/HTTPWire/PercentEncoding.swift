/// RFC 3986 §2.1
package enum PercentEncoding {
  /// Encodes every byte but unreserved ones, so that the text can stand in any component of a URL.
  package static func encode(_ text: some StringProtocol) -> String {
    encode(bytes: text.utf8)
  }

  package static func encode(bytes: some Sequence<UInt8>) -> String {
    var encoded: [UInt8] = []
    for byte in bytes {
      if ASCII.isUnreserved(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), ASCII.upperHexDigit(byte >> 4), ASCII.upperHexDigit(byte & 0x0F)]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// The decoded bytes, or nil if a `%` is not followed by two hexadecimal digits.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    decode(bytes: Array(text.utf8))
  }

  package static func decode(bytes: some RandomAccessCollection<UInt8>) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        decoded.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(ASCII.hexValue), let low = rest.popFirst().flatMap(ASCII.hexValue)
      else { return nil }
      decoded.append(high << 4 | low)
    }
    return decoded
  }
}
