import HTTPWire

/// Reads what a run of base64 or base64url characters hides.
enum Base64Probe {
  /// Shorter runs hide nothing worth a look.
  static let charactersMin = 24
  /// Longer ones are looked at from their start only.
  private static let charactersMax = 8_192

  /// The decoded bytes of `run`, if they are a text.
  static func text(in run: UnsafeRawBufferPointer) -> [UInt8]? {
    guard beginsAsText(run) else { return nil }
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
      // One byte that UTF-8 text has not ends the search early for nearly all that is no text.
      guard isTextByte(byte) else { return nil }
      decoded.append(byte)
    }
    return decoded.isEmpty ? nil : decoded
  }

  /// Whether the first three characters decode to text: enough to save most runs the rest.
  private static func beginsAsText(_ run: UnsafeRawBufferPointer) -> Bool {
    guard run.count >= 3, let a = value(of: run[0]), let b = value(of: run[1]), let c = value(of: run[2])
    else { return false }
    let bits = a << 12 | b << 6 | c
    return isTextByte(UInt8(truncatingIfNeeded: bits >> 10)) && isTextByte(UInt8(truncatingIfNeeded: bits >> 2))
  }

  private static func isTextByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x0A, 0x0D, 0x20..<0x7F, 0x80..<0xC0, 0xC2..<0xF5: true
    default: false
    }
  }

  static func isCharacter(_ byte: UInt8) -> Bool { value(of: byte) != nil }

  /// The six bits that a character of either alphabet stands for.
  static func value(of character: UInt8) -> UInt32? {
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
