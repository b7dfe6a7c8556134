import HTTPWire

/// Whether a value looks like a secret: long enough, of the characters tokens are made of, and random.
enum SecretLikeness {
  static let byteCountMin = 16

  static func isLikely(_ value: UnsafeRawBufferPointer) -> Bool {
    guard value.count >= byteCountMin else { return false }
    return value.allSatisfy(isTokenByte) && Randomness.isRandom(value)
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "%"), UInt8(ascii: ":"),
      UInt8(ascii: "|"):
      true
    default: ASCII.isUnreserved(byte)
    }
  }
}
