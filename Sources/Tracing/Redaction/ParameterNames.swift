import HTTPWire

/// What the name of a parameter says about its value.
struct NameClass: OptionSet {
  let rawValue: UInt8
  /// Always a secret.
  static let secret = NameClass(rawValue: 1)
  /// A secret on OAuth endpoints, an ordinary word elsewhere.
  static let ambiguous = NameClass(rawValue: 2)
  /// Only OAuth, OpenID Connect and SAML messages have such a parameter.
  static let oauth = NameClass(rawValue: 4)
}

/// Judges parameter names, however they are written: percent-encoded, in any case, with `-`, `_` or humps between the
/// words, inside brackets or after dots.
final class NameJudge {
  /// Enough for every name of the lists; of longer names the end counts, as the suffix rule wants it.
  private static let foldedBytesMax = 64

  private let folded = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: foldedBytesMax)

  /// What has been read of a name.
  private struct Reading {
    var count = 0
    var componentStart = 0
    /// Bit n: a word begins at the n-th folded byte.
    var wordStarts: UInt64 = 0
    var componentClass: NameClass = []
    var previous: UInt8 = 0
  }

  deinit { folded.deallocate() }

  /// The class of a name and a number that is equal for equal names.
  func judge(_ name: UnsafeRawBufferPointer) -> (class: NameClass, identity: UInt64) {
    var reading = Reading()
    var index = 0
    while index < name.count {
      let byte = Self.nextByte(in: name, &index)
      if byte.isWordByte {
        append(byte, to: &reading)
      } else if Self.endsName(byte) {
        reading = Reading()
      } else if Self.endsComponent(byte) {
        reading.componentClass.formUnion(classify(reading, from: reading.componentStart).class)
        reading.componentStart = reading.count
      }
      reading.previous = byte
    }
    let whole = classify(reading, from: 0)
    if reading.componentStart > 0 {
      reading.componentClass.formUnion(classify(reading, from: reading.componentStart).class)
    }
    return (whole.class.union(reading.componentClass), whole.identity)
  }

  private func append(_ byte: UInt8, to reading: inout Reading) {
    if reading.count == Self.foldedBytesMax { forgetHalf(&reading) }
    let lowercased = ASCII.lowercased(byte)
    let isHump = byte != lowercased && reading.previous &- UInt8(ascii: "a") < 26
    if isHump || !reading.previous.isWordByte { reading.wordStarts |= 1 << UInt64(reading.count) }
    folded[reading.count] = lowercased
    reading.count += 1
  }

  private func forgetHalf(_ reading: inout Reading) {
    let half = Self.foldedBytesMax / 2
    for index in 0..<half { folded[index] = folded[index + half] }
    reading.count = half
    reading.wordStarts >>= UInt64(half)
    reading.componentStart = max(0, reading.componentStart - half)
  }

  private func classify(_ reading: Reading, from start: Int) -> (class: NameClass, identity: UInt64) {
    // token1, new_password2
    var end = reading.count
    while end > start, ASCII.isDigit(folded[end - 1]) { end -= 1 }
    guard end > start else { return ([], 0) }
    let name = UnsafeBufferPointer(rebasing: folded[start..<end])
    let identity = NameTable.identity(name)
    if let known = ParameterNames.table[identity] { return (known, identity) }
    return (endsInSecretWord(name, reading.wordStarts >> UInt64(start)) ? .secret : [], identity)
  }

  /// The suffix rule.
  private func endsInSecretWord(_ name: UnsafeBufferPointer<UInt8>, _ wordStarts: UInt64) -> Bool {
    // The last letters of all suffixes: most names go no further.
    switch name[name.count - 1] {
    case UInt8(ascii: "n"), UInt8(ascii: "t"), UInt8(ascii: "d"), UInt8(ascii: "e"), UInt8(ascii: "l"),
      UInt8(ascii: "s"), UInt8(ascii: "y"), UInt8(ascii: "p"):
      break
    default: return false
    }
    let bytes = UnsafeRawBufferPointer(name)
    return ParameterNames.secretSuffixes.contains { bytes.holds($0, at: name.count - $0.utf8CodeUnitCount) }
      || ParameterNames.secretLastWords.contains { word in
        let start = name.count - word.utf8CodeUnitCount
        return bytes.holds(word, at: start) && wordStarts >> UInt64(start) & 1 == 1
      }
  }

  /// The next byte with all layers of percent-encoding taken off.
  private static func nextByte(in name: UnsafeRawBufferPointer, _ index: inout Int) -> UInt8 {
    var byte = name[index]
    index += 1
    while byte == UInt8(ascii: "%"), let decoded = name.hexByte(at: index) {
      byte = decoded
      index += 2
    }
    return byte
  }

  /// A name read backwards from its `=` may begin before such a byte if that is percent-encoded.
  private static func endsName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "?"), UInt8(ascii: "&"), UInt8(ascii: "#"), UInt8(ascii: ";"), UInt8(ascii: "/"),
      UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "\""), UInt8(ascii: " "), UInt8(ascii: "{"):
      true
    default: false
    }
  }

  private static func endsComponent(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: ":")
  }
}
