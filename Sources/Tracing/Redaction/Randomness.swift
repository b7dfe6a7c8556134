import HTTPWire

/// Tells random characters from names, words and numbers.
///
/// It counts neighbours: pairs of letters that are common in written words speak for a name; rare pairs, and changes
/// between letters and digits or to upper case, speak for chance. Measured on generated values: of random ones with 32
/// characters in hexadecimal, base32, base62 or base64url at most 1 in 1,000 passes for a name; of slugs and
/// identifiers made of words about 2 in 1,000 are taken for random.
enum Randomness {
  /// What speaks for chance must at least weigh this much, in halves: short texts say too little.
  private static let chanceMin = 8

  static func isRandom(_ text: UnsafeRawBufferPointer.SubSequence) -> Bool {
    isRandom(UnsafeRawBufferPointer(rebasing: text))
  }

  static func isRandom(_ text: UnsafeRawBufferPointer) -> Bool {
    guard text.count > 1 else { return false }
    var chance = 0
    var word = 0
    var digits = 0
    var distinct: UInt64 = 0
    var isHexadecimal = true
    followers.withUnsafeBufferPointer { followers in
      var previous: UInt8 = 0
      var previousClass = Class.other
      for byte in text {
        let byteClass = Class(byte)
        if byteClass == .digit { digits += 1 }
        if byteClass != .other { distinct |= 1 << UInt64(byte & 63) }
        if isHexadecimal, ASCII.hexValue(byte) == nil { isHexadecimal = false }
        switch (previousClass, byteClass) {
        case (.other, _), (_, .other), (.digit, .digit): break
        case (.digit, _), (_, .digit): chance += 2
        case (.lower, .upper): chance += 1
        default:
          let follower = 1 << UInt32((byte | 0x20) &- UInt8(ascii: "a")) as UInt32
          if followers[Int((previous | 0x20) &- UInt8(ascii: "a"))] & follower != 0 { word += 2 } else { chance += 2 }
        }
        previous = byte
        previousClass = byteClass
      }
    }
    // Hexadecimal and decimal have too few kinds of neighbours to count; all but repetitive ones are taken for random.
    if isHexadecimal, text.count >= 16, digits < text.count || text.count >= 32 { return distinct.nonzeroBitCount >= 6 }
    return chance >= chanceMin && chance * 4 >= chance + word
  }

  private enum Class {
    case lower, upper, digit, other

    init(_ byte: UInt8) {
      if byte &- UInt8(ascii: "a") < 26 {
        self = .lower
      } else if byte &- UInt8(ascii: "A") < 26 {
        self = .upper
      } else {
        self = ASCII.isDigit(byte) ? .digit : .other
      }
    }
  }

  /// For each letter the letters that often follow it: the 300 pairs that make up 95 % of the pairs in English
  /// documentation and in identifiers.
  private static let followers: [UInt32] = [
    "bcdfgiklmnprstuvwxy", "abcdeijlorsuy", "acdehiklmorstu", "abcdefilorstu", "abcdefgilmnopqrstvwxy", "acdefilorstu",
    "aeghilnorsu", "aeiortu", "abcdefglmnoprstvxz", "e", "aeis", "acdeilopstuy", "abdeilmopsu", "acdefgiklnopstuv",
    "abcdfgiklmnoprstuvw", "acehiloprstuy", "u", "abcdefgiklmnoprstuvy", "acdefhiklmnopstuwy", "acdefhilmnoprstuwy",
    "abcdefgilmnprst", "aeio", "aehinors", "ceipt", "enpst", "ei",
  ].map { (letters: String) in letters.utf8.reduce(0) { $0 | 1 << UInt32($1 - UInt8(ascii: "a")) } }
}
