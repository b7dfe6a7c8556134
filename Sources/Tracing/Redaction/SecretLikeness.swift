import HTTPWire

/// Whether a value looks like a secret: long enough, of the characters tokens are made of, and random.
enum SecretLikeness {
  static let byteCountMin = 16
  /// Of longer values the start is looked at, which says enough and keeps many long values from taking long.
  private static let examinedBytesMax = 512

  static func isLikely(_ value: UnsafeRawBufferPointer) -> Bool {
    guard value.count >= byteCountMin else { return false }
    let value = UnsafeRawBufferPointer(rebasing: value.prefix(examinedBytesMax))
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
