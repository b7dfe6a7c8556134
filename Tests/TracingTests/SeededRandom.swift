/// SplitMix64: the same numbers on every run, so that a failure can be seen again.
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func characters(_ count: Int, of alphabet: String) -> String {
    let alphabet = Array(alphabet)
    return String((0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &self)] })
  }
}

enum Alphabet {
  static let hexadecimal = "0123456789abcdef"
  static let base32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
  static let base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  static let base64URL = base62 + "-_"
}

enum PercentForm: CaseIterable {
  case raw, reserved, full, fullLowercase, twice, thrice

  func encode(_ text: String) -> String {
    switch self {
    case .raw: text
    case .reserved: Self.encode(text, all: false, digits: "0123456789ABCDEF")
    case .full: Self.encode(text, all: true, digits: "0123456789ABCDEF")
    case .fullLowercase: Self.encode(text, all: true, digits: "0123456789abcdef")
    case .twice: Self.reserved.encode(Self.reserved.encode(text))
    case .thrice: Self.full.encode(Self.full.encode(Self.full.encode(text)))
    }
  }

  private static func encode(_ text: String, all: Bool, digits: String) -> String {
    let digits = Array(digits)
    return text.utf8.reduce(into: "") { encoded, byte in
      let character = Character(UnicodeScalar(byte))
      if !all, byte < 0x80, character.isLetter || character.isNumber || "-._~".contains(character) {
        encoded.append(character)
      } else {
        encoded += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
      }
    }
  }
}
