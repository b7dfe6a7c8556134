import Cryptography
import HTTPWire

/// A way a held value may stand in a text that decoding layer by layer does not reveal.
///
/// None is kept in memory: each byte of a form follows from the value.
enum HeldForm: UInt8, CaseIterable {
  case plain
  /// Form encoding writes a space as a plus sign.
  case spacesAsPlusSigns
  /// Of either case. RFC 4648 §8
  case hexadecimal
  /// With so many bytes, modulo 3, before it. Only what depends on the value alone. RFC 4648 §4
  case base64At0
  case base64At1
  case base64At2
  /// RFC 4648 §5
  case base64URLAt0
  case base64URLAt1
  case base64URLAt2

  /// The form of the other alphabet, of which this one is seldom different.
  var inStandardAlphabet: HeldForm {
    switch self {
    case .base64URLAt0: .base64At0
    case .base64URLAt1: .base64At1
    case .base64URLAt2: .base64At2
    default: self
    }
  }

  private var base64Offset: Int? {
    switch inStandardAlphabet {
    case .base64At0: 0
    case .base64At1: 1
    case .base64At2: 2
    default: nil
    }
  }

  /// The length of the form of so many bytes.
  func count(ofBytes byteCount: Int) -> Int {
    if let offset = base64Offset { return (offset + byteCount) * 8 / 6 - Self.firstCharacter(offset) }
    return self == .hexadecimal ? byteCount * 2 : byteCount
  }

  /// The first character of base64 that holds no bit of the bytes before.
  private static func firstCharacter(_ offset: Int) -> Int { (offset * 8 + 5) / 6 }

  /// The eight bytes of the form before `end`, as one number; the cases of letters are one.
  func window(endingAt end: Int, of value: UnsafeRawBufferPointer) -> UInt64 {
    var window: UInt64 = 0
    for index in 0..<8 { window |= UInt64(byte(at: end - 8 + index, of: value)) << UInt64(index * 8) }
    return HeldWindows.folded(window)
  }

  private func byte(at index: Int, of value: UnsafeRawBufferPointer) -> UInt8 {
    if let offset = base64Offset {
      let alphabet: StaticString =
        self == inStandardAlphabet
        ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
      return alphabet.utf8Start[Int(Self.sextet(index, offset, value))]
    }
    switch self {
    case .hexadecimal: return ASCII.lowerHexDigit(index % 2 == 0 ? value[index / 2] >> 4 : value[index / 2] & 0x0F)
    case .spacesAsPlusSigns where value[index] == ASCII.space: return UInt8(ascii: "+")
    default: return value[index]
    }
  }

  /// Six bits of the value: those of a character of the form.
  private static func sextet(_ index: Int, _ offset: Int, _ value: UnsafeRawBufferPointer) -> UInt32 {
    let bit = (firstCharacter(offset) + index) * 6 - offset * 8
    let next = bit / 8 + 1 < value.count ? value[bit / 8 + 1] : 0
    return (UInt32(value[bit / 8]) << 8 | UInt32(next)) >> UInt32(10 - bit % 8) & 63
  }

  /// Where the form of `value` stands in `text`, if it begins at `start`.
  func range(of value: UnsafeRawBufferPointer, at start: Int, in text: UnsafeRawBufferPointer) -> Range<Int>? {
    let count = count(ofBytes: value.count)
    guard start >= 0, start <= text.count - count else { return nil }
    guard let offset = base64Offset else {
      for index in 0..<count {
        let shown = self == .hexadecimal ? ASCII.lowercased(text[start + index]) : text[start + index]
        if shown != byte(at: index, of: value) { return nil }
      }
      return start..<start + count
    }
    for index in 0..<count {
      guard Base64Probe.value(of: text[start + index]) == Self.sextet(index, offset, value) else { return nil }
    }
    // A character before or behind holds a few bits of the value as well.
    var range = start..<start + count
    if offset > 0, start > 0, Base64Probe.isCharacter(text[start - 1]) { range = start - 1..<range.upperBound }
    if (offset + value.count) % 3 != 0, range.upperBound < text.count,
      Base64Probe.isCharacter(text[range.upperBound])
    {
      range = range.lowerBound..<range.upperBound + 1
    }
    return range
  }
}
