import Cryptography
import HTTPWire

/// One way a held value may stand in a text.
struct HeldPattern: Sendable {
  let bytes: Secret
  /// A base64 character before or behind the pattern holds a few bits of the value as well.
  var sharesCharacterBefore = false
  var sharesCharacterBehind = false

  /// All ways that decoding layer by layer does not reveal.
  static func all(of secret: Secret) -> [HeldPattern] {
    secret.withUnsafeBytes { value in
      var patterns = [HeldPattern(bytes: secret)]
      // Form encoding writes a space as a plus sign.
      if value.contains(UInt8(ascii: " ")) {
        patterns.append(HeldPattern(bytes: Secret(value.map { $0 == UInt8(ascii: " ") ? UInt8(ascii: "+") : $0 })))
      }
      for offset in 0..<3 {
        let standard = base64(value, at: offset, Base64.encode)
        let urlSafe = base64(value, at: offset, Base64URL.encode)
        patterns.append(standard)
        if urlSafe.bytes != standard.bytes { patterns.append(urlSafe) }
      }
      patterns.append(HeldPattern(bytes: hexadecimal(value, ASCII.lowerHexDigit)))
      let upper = HeldPattern(bytes: hexadecimal(value, ASCII.upperHexDigit))
      if upper.bytes != patterns.last?.bytes { patterns.append(upper) }
      return patterns
    }
  }

  /// RFC 4648 §8
  private static func hexadecimal(_ value: UnsafeRawBufferPointer, _ digit: (UInt8) -> UInt8) -> Secret {
    Secret(value.flatMap { [digit($0 >> 4), digit($0 & 0x0F)] })
  }

  /// The characters that depend on `value` alone if `offset` bytes, modulo 3, stand before it.
  private static func base64(
    _ value: UnsafeRawBufferPointer, at offset: Int, _ encode: ([UInt8]) -> String
  ) -> HeldPattern {
    let text = encode([UInt8](repeating: 0, count: offset) + value)
    let first = (offset * 8 + 5) / 6
    let end = (offset + value.count) * 8 / 6
    return HeldPattern(
      bytes: Secret(Array(text.utf8.dropFirst(first).prefix(end - first))),
      sharesCharacterBefore: offset > 0, sharesCharacterBehind: (offset + value.count) % 3 != 0)
  }
}
