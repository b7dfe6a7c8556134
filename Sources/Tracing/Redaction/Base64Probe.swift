import HTTPWire

/// Reads what a run of base64 or base64url characters hides.
enum Base64Probe {
  /// Shorter runs hide nothing worth a look.
  static let charactersMin = 24
  /// Longer ones are looked at from their start only.
  private static let charactersMax = 8_192

  /// The decoded bytes of `run`, if they are a text.
  static func text(in run: UnsafeRawBufferPointer) -> [UInt8]? {
    var decoded: [UInt8] = []
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for character in run.prefix(charactersMax) {
      guard let value = value(of: character) else { break }
      bits = bits << 6 | value
      bitCount += 6
      guard bitCount >= 8 else { continue }
      bitCount -= 8
      let byte = UInt8(truncatingIfNeeded: bits >> bitCount)
      // One byte that no text has ends the search early for nearly all that is no text.
      guard byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D, byte != 0x7F else { return nil }
      decoded.append(byte)
    }
    return decoded.isEmpty ? nil : decoded
  }

  static func isCharacter(_ byte: UInt8) -> Bool { value(of: byte) != nil }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
    case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
    default: nil
    }
  }
}
