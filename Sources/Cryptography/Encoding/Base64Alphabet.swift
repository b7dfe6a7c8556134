/// What base64 and base64url have in common: both codecs are this one with another alphabet and padding rule.
struct Base64Alphabet: Sendable {
  /// The 64 characters in order; a `StaticString`, so that encoding reads constants of the binary.
  let characters: StaticString
  let character62: UInt8
  let character63: UInt8

  static let standard = Base64Alphabet(
    characters: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    character62: UInt8(ascii: "+"), character63: UInt8(ascii: "/"))
  static let urlSafe = Base64Alphabet(
    characters: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    character62: UInt8(ascii: "-"), character63: UInt8(ascii: "_"))

  /// The length of `byteCount` bytes encoded without padding.
  static func unpaddedCount(_ byteCount: Int) -> Int { (byteCount * 4 + 2) / 3 }

  /// Encodes without padding and returns the number of characters written.
  func encode(_ bytes: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int {
    precondition(output.count >= Self.unpaddedCount(bytes.count), "the buffer is too small for the encoded bytes")
    guard let source = bytes.baseAddress, let target = output.baseAddress, !bytes.isEmpty else { return 0 }
    let alphabet = characters.utf8Start
    var from = source.assumingMemoryBound(to: UInt8.self)
    var to = target.assumingMemoryBound(to: UInt8.self)
    var left = bytes.count
    while left >= 3 {
      let group = Int(from[0]) << 16 | Int(from[1]) << 8 | Int(from[2])
      to[0] = alphabet[group >> 18]
      to[1] = alphabet[(group >> 12) & 63]
      to[2] = alphabet[(group >> 6) & 63]
      to[3] = alphabet[group & 63]
      from += 3
      to += 4
      left -= 3
    }
    if left > 0 {
      let group = Int(from[0]) << 16 | (left == 2 ? Int(from[1]) << 8 : 0)
      to[0] = alphabet[group >> 18]
      to[1] = alphabet[(group >> 12) & 63]
      if left == 2 { to[2] = alphabet[(group >> 6) & 63] }
    }
    return Self.unpaddedCount(bytes.count)
  }

  /// Decodes unpadded characters; `nil` for a foreign character, an impossible length or set bits past the last byte.
  func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    let remainder = text.count % 4
    guard remainder != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count * 3 / 4)
    var bits: UInt32 = 0
    var bitCount: UInt32 = 0
    for character in text {
      guard let value = value(of: character) else { return nil }
      bits = bits << 6 | value
      bitCount += 6
      if bitCount >= 8 {
        bitCount -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> bitCount))
        bits &= (1 << bitCount) - 1
      }
    }
    // Two texts must never decode to the same bytes. RFC 4648 §3.5
    return bits == 0 ? bytes : nil
  }

  private func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case character62: 62
    case character63: 63
    default: nil
    }
  }
}
