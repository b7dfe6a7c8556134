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
struct NameJudge {
  /// Enough for every name of the lists; of longer names the end counts, as the suffix rule wants it.
  private static let foldedBytesMax = 64

  private var folded: [UInt8] = []
  /// Bit n: a word begins at the n-th folded byte.
  private var wordStarts: UInt64 = 0

  init() { folded.reserveCapacity(Self.foldedBytesMax) }

  /// The class of a name and a number that is equal for equal names.
  mutating func judge(_ name: UnsafeRawBufferPointer) -> (NameClass, identity: UInt64) {
    var componentClass: NameClass = []
    var componentStart = 0
    clear()
    var previous: UInt8 = 0
    var index = 0
    while index < name.count {
      let byte = Self.nextByte(in: name, &index)
      if ASCII.isLetter(byte) || ASCII.isDigit(byte) {
        append(byte, after: previous, &componentStart)
      } else if Self.endsName(byte) {
        clear()
        (componentStart, componentClass) = (0, [])
      } else if Self.endsComponent(byte) {
        componentClass.formUnion(classify(from: componentStart).class)
        componentStart = folded.count
      }
      previous = byte
    }
    let whole = classify(from: 0)
    if componentStart > 0 { componentClass.formUnion(classify(from: componentStart).class) }
    return (whole.class.union(componentClass), whole.identity)
  }

  private mutating func clear() {
    folded.removeAll(keepingCapacity: true)
    wordStarts = 0
  }

  private mutating func append(_ byte: UInt8, after previous: UInt8, _ componentStart: inout Int) {
    if folded.count == Self.foldedBytesMax {
      let half = Self.foldedBytesMax / 2
      folded.removeFirst(half)
      wordStarts >>= UInt64(half)
      componentStart = max(0, componentStart - half)
    }
    let lowercased = ASCII.lowercased(byte)
    let isHump = byte != lowercased && previous &- UInt8(ascii: "a") < 26
    let isAfterWord = !ASCII.isLetter(previous) && !ASCII.isDigit(previous)
    if isHump || isAfterWord { wordStarts |= 1 << UInt64(folded.count) }
    folded.append(lowercased)
  }

  private func classify(from start: Int) -> (class: NameClass, identity: UInt64) {
    // token1, new_password2
    var end = folded.count
    while end > start, ASCII.isDigit(folded[end - 1]) { end -= 1 }
    guard end > start else { return ([], 0) }
    let identity = ParameterNames.identity(folded[start..<end])
    if let known = ParameterNames.classes[identity] { return (known, identity) }
    return (endsInSecretWord(start..<end) ? .secret : [], identity)
  }

  /// The suffix rule: what ends in such a word is a secret unless the lists know better. `key` and `code` only count as
  /// words of their own, for there are monkeys and barcodes.
  private func endsInSecretWord(_ range: Range<Int>) -> Bool {
    let name = folded[range]
    if ParameterNames.secretSuffixes.contains(where: { name.hasSuffix($0) }) { return true }
    return ParameterNames.secretLastWords.contains { word in
      name.hasSuffix(word) && wordStarts >> UInt64(range.upperBound - word.utf8CodeUnitCount) & 1 == 1
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

extension ArraySlice<UInt8> {
  fileprivate func hasSuffix(_ suffix: StaticString) -> Bool {
    let length = suffix.utf8CodeUnitCount
    guard count >= length else { return false }
    for index in 0..<length where self[endIndex - length + index] != suffix.utf8Start[index] { return false }
    return true
  }
}
