/// Byte classes of RFC 9110 and RFC 3986. Bitmaps in registers: no table to load, no lazy global.
package enum ASCII {
  package static let horizontalTab: UInt8 = 0x09
  package static let lineFeed: UInt8 = 0x0A
  package static let carriageReturn: UInt8 = 0x0D
  package static let space: UInt8 = 0x20

  /// A `tchar`. RFC 9110 §5.6.2
  @inline(__always)
  package static func isTokenByte(_ byte: UInt8) -> Bool {
    if byte < 64 { return (0x03FF_6CFA_0000_0000 as UInt64 >> UInt64(byte)) & 1 == 1 }
    return byte < 128 && (0x57FF_FFFF_C7FF_FFFE as UInt64 >> UInt64(byte & 63)) & 1 == 1
  }

  /// A byte a field value may hold: HTAB, SP, VCHAR, obs-text. RFC 9110 §5.5
  @inline(__always)
  package static func isFieldValueByte(_ byte: UInt8) -> Bool {
    (byte >= 0x20 && byte != 0x7F) || byte == horizontalTab
  }

  @inline(__always)
  package static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  @inline(__always)
  package static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

  package static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

  /// SP or HTAB. RFC 9110 §5.6.3
  @inline(__always)
  package static func isWhitespace(_ byte: UInt8) -> Bool { byte == space || byte == horizontalTab }

  /// RFC 3986 §2.3
  @inline(__always)
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    if byte < 64 { return (0x03FF_6000_0000_0000 as UInt64 >> UInt64(byte)) & 1 == 1 }
    return byte < 128 && (0x47FF_FFFE_87FF_FFFE as UInt64 >> UInt64(byte & 63)) & 1 == 1
  }

  @inline(__always)
  package static func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

  /// The value of a hexadecimal digit, or nil.
  @inline(__always)
  package static func hexValue(_ byte: UInt8) -> UInt8? {
    if isDigit(byte) { return byte &- 0x30 }
    let letter = (byte | 0x20) &- 0x61
    return letter < 6 ? letter + 10 : nil
  }

  /// The digit for `value` (0–15) in upper case, as RFC 3986 §2.1 wants it in percent-encodings.
  @inline(__always)
  package static func upperHexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x41 + value - 10
  }

  @inline(__always)
  package static func lowerHexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? 0x30 + value : 0x61 + value - 10
  }

  /// `text` in lower case (ASCII letters only).
  package static func lowercased(_ text: some StringProtocol) -> String {
    String(decoding: text.utf8.map { lowercased($0) }, as: UTF8.self)
  }

  /// Whether the two texts are the same but for the case of ASCII letters.
  package static func equalCaseInsensitively(_ one: some StringProtocol, _ other: some StringProtocol) -> Bool {
    one.utf8.elementsEqual(other.utf8) { lowercased($0) == lowercased($1) }
  }

  /// Whether `text` is one non-empty token. RFC 9110 §5.6.2
  package static func isToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { isTokenByte($0) }
  }
}

/// Eight bytes at a time: the high bit of each byte of the answer is set where the byte matches. Only the lowest set bit
/// is exact (a borrow can run upwards), which is the one that is asked for.
enum WordScan {
  static let ones: UInt64 = 0x0101_0101_0101_0101
  static let highs: UInt64 = 0x8080_8080_8080_8080

  @inline(__always)
  static func bytesEqual(_ word: UInt64, to byte: UInt8) -> UInt64 {
    let x = word ^ (ones &* UInt64(byte))
    return (x &- ones) & ~x & highs
  }

  /// Bytes below `bound` (≤ 0x80).
  @inline(__always)
  static func bytesBelow(_ word: UInt64, _ bound: UInt8) -> UInt64 {
    (word &- ones &* UInt64(bound)) & ~word & highs
  }

  /// Bytes that are neither a letter nor `-`: where a field name ends, or needs a closer look. Exact in every byte.
  @inline(__always)
  static func bytesUncommonInNames(_ word: UInt64) -> UInt64 {
    let low = word & ~highs
    let folded = low | ones &* 0x20
    let letters = (folded &+ ones &* (0x80 - 0x61)) & ~(folded &+ ones &* (0x80 - 0x7B))
    let hyphens = ~((low ^ ones &* 0x2D) &+ ~highs)
    return ~((letters | hyphens) & ~word) & highs
  }

  /// The eight bytes at `offset`, which the caller has checked to be there; the first is the lowest.
  @inline(__always)
  static func load(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
    assert(offset >= 0 && offset + 8 <= bytes.count)
    guard let base = bytes.baseAddress else { return 0 }
    return UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
