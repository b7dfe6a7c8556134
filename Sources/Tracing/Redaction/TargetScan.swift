import HTTPWire

/// Applies the rules for names and places to one view of a target: parameters, JSON members, user names, path segments.
struct TargetScan {
  private struct Ambiguous {
    var range: Range<Int>
    var identity: UInt64
  }

  /// So often a run of base64 may turn out to be text without anything to hide; each time costs its length.
  private static let base64AttemptsMax = 8

  private let judge = NameJudge()
  private var ambiguous: [Ambiguous] = []
  /// The first OAuth parameter seen, and whether there was another.
  private var oauthIdentity: UInt64?
  private var hasSeveralOAuth = false
  private var isInsideQuotes = false
  private var valueEnds = ValueEnds()

  /// Calls `found` with each part of `text` to mask; the flag says that it is a user name to drop.
  ///
  /// - Parameter base64Layers: how often base64 is looked into.
  mutating func scan(
    _ text: UnsafeRawBufferPointer, base64Layers: Int = 2, _ found: (Range<Int>, _ isDropped: Bool) -> Void
  ) {
    begin()
    var pathEnd = text.count
    var segments = SegmentScan()
    var runs = RunLengths()
    for index in 0..<text.count {
      let byte = text[index]
      if byte.isWordByte { continue }
      switch byte {
      case UInt8(ascii: "="): parameter(text, equalsAt: index, pathEnd: pathEnd) { found($0, false) }
      case UInt8(ascii: ":"):
        if let authority = Self.authority(text, after: index) { userInformation(text, authority, found) }
        member(text, colonAt: index) { found($0, false) }
      case UInt8(ascii: "/"):
        if index == 0, text.holds("//", at: 0) { userInformation(text, 2, found) }
        segments.segment(text, from: index + 1, judge) { found($0, false) }
      case UInt8(ascii: "?"), UInt8(ascii: "#"): pathEnd = min(pathEnd, index)
      case UInt8(ascii: "\""): isInsideQuotes.toggle()
      default: break
      }
      runs.end(at: index, byte)
    }
    runs.end(at: text.count, 0)
    if runs.mayHoldToken { TokenShapes.scan(text, pathEnd: pathEnd) { found($0, false) } }
    if base64Layers > 0, runs.mayHoldBase64 {
      scanBase64(text, pathEnd: pathEnd, layers: base64Layers) { found($0, false) }
    }
    for value in ambiguous where isBesideOAuth(value.identity) { found(value.range, false) }
  }

  private mutating func begin() {
    ambiguous.removeAll(keepingCapacity: true)
    oauthIdentity = nil
    hasSeveralOAuth = false
    isInsideQuotes = false
    valueEnds = ValueEnds()
  }

  /// A run of base64 in which something is hidden is hidden whole.
  private func scanBase64(
    _ text: UnsafeRawBufferPointer, pathEnd: Int, layers: Int, _ found: (Range<Int>) -> Void
  ) {
    var index = 0
    while index < text.count {
      let end = TokenShapes.runEnd(text, from: index, pathEnd: pathEnd)
      if end - index >= Base64Probe.charactersMin, isHiding(text, index..<end, layers: layers) { found(index..<end) }
      index = max(end, index + 1)
    }
  }

  private func isHiding(_ text: UnsafeRawBufferPointer, _ run: Range<Int>, layers: Int) -> Bool {
    var attemptsLeft = Self.base64AttemptsMax
    var start = run.lowerBound
    while attemptsLeft > 0, run.upperBound - start >= Base64Probe.charactersMin {
      if let decoded = Base64Probe.text(in: UnsafeRawBufferPointer(rebasing: text[start..<run.upperBound])) {
        var isHiding = false
        var inner = TargetScan()
        decoded.withUnsafeBytes { inner.scan($0, base64Layers: layers - 1) { _, _ in isHiding = true } }
        if isHiding { return true }
        attemptsLeft -= 1
      }
      // The slash may be one of a URL, and base64 begin behind it.
      guard let slash = text[start..<run.upperBound].firstIndex(of: UInt8(ascii: "/")) else { return false }
      start = slash + 1
    }
    return false
  }

  // MARK: name=value

  private mutating func parameter(
    _ text: UnsafeRawBufferPointer, equalsAt equals: Int, pathEnd: Int, _ found: (Range<Int>) -> Void
  ) {
    var nameStart = equals
    while nameStart > 0, Self.isNameByte(text[nameStart - 1]) { nameStart -= 1 }
    guard nameStart < equals else { return }
    let end = valueEnds.end(text, from: equals + 1, isInPath: equals < pathEnd, isInsideQuotes: isInsideQuotes)
    value(equals + 1..<end, named: nameStart..<equals, in: text, found)
  }

  // MARK: "name":"value"

  private mutating func member(_ text: UnsafeRawBufferPointer, colonAt colon: Int, _ found: (Range<Int>) -> Void) {
    var start = colon + 1
    while start < text.count, Self.isBeforeValue(text[start]) { start += 1 }
    guard start < text.count else { return }
    let opening = text[start]
    let isQuotedValue = opening == UInt8(ascii: "\"") || opening == UInt8(ascii: "'")
    guard let name = Self.memberName(text, before: colon, mayBeBare: isQuotedValue) else { return }
    guard !RedactionMarker.begins(at: start, in: text) else { return }
    var end = start
    if isQuotedValue {
      let isEscaped = text[start - 1] == UInt8(ascii: "\\")
      start += 1
      end = start
      while end < text.count, text[end] != opening || (text[end - 1] == UInt8(ascii: "\\")) != isEscaped { end += 1 }
      if isEscaped, end > start { end -= 1 }
    } else if opening == UInt8(ascii: "[") || opening == UInt8(ascii: "{") {
      end = valueEnds.end(text, from: start, isInPath: false, isInsideQuotes: false)
    } else {
      while end < text.count, !Self.endsBareValue(text[end]) { end += 1 }
    }
    value(start..<end, named: name, in: text, found)
  }

  private static func memberName(
    _ text: UnsafeRawBufferPointer, before colon: Int, mayBeBare: Bool
  ) -> Range<Int>? {
    var end = colon
    while end > 0, text[end - 1] == UInt8(ascii: " ") { end -= 1 }
    let isQuoted = end > 0 && (text[end - 1] == UInt8(ascii: "\"") || text[end - 1] == UInt8(ascii: "'"))
    guard isQuoted || mayBeBare else { return nil }
    while end > 0, isQuote(text[end - 1]) { end -= 1 }
    var start = end
    while start > 0, isNameByte(text[start - 1]), text[start - 1] != UInt8(ascii: ":") { start -= 1 }
    return start < end ? start..<end : nil
  }

  // MARK: Values

  private mutating func value(
    _ range: Range<Int>, named name: Range<Int>, in text: UnsafeRawBufferPointer, _ found: (Range<Int>) -> Void
  ) {
    let (nameClass, identity) = judge.judge(UnsafeRawBufferPointer(rebasing: text[name]))
    if nameClass.contains(.oauth) {
      hasSeveralOAuth = hasSeveralOAuth || (oauthIdentity ?? identity) != identity
      oauthIdentity = oauthIdentity ?? identity
    }
    guard !nameClass.isDisjoint(with: [.secret, .ambiguous]), !Self.isNothing(text, range) else { return }
    if nameClass.contains(.secret) || SecretLikeness.isLikely(UnsafeRawBufferPointer(rebasing: text[range])) {
      found(range)
    } else {
      ambiguous.append(Ambiguous(range: range, identity: identity))
    }
  }

  private func isBesideOAuth(_ identity: UInt64) -> Bool {
    hasSeveralOAuth || oauthIdentity.map { $0 != identity } ?? false
  }

  /// Nothing that could be hidden: empty, hidden already, or cut off here before.
  private static func isNothing(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    range.isEmpty || text.holds(TargetRedactor.ellipsis, at: range.lowerBound) && range.count == 3
      || range.count == RedactionMarker.byteCount && RedactionMarker.begins(at: range.lowerBound, in: text)
  }

  // MARK: user:password@host

  /// Where the authority begins, if the colon at `index` ends a scheme. One slash too few is no reason to show a password.
  private static func authority(_ text: UnsafeRawBufferPointer, after index: Int) -> Int? {
    guard index >= 2, ASCII.isLetter(text[index - 2]), text.holds("/", at: index + 1) else { return nil }
    return text[(index + 1)...].firstIndex { $0 != UInt8(ascii: "/") }
  }

  private func userInformation(
    _ text: UnsafeRawBufferPointer, _ start: Int, _ found: (Range<Int>, _ isDropped: Bool) -> Void
  ) {
    var end = start
    var at: Int?
    while end < text.count, !Self.endsAuthority(text[end]) {
      if text[end] == UInt8(ascii: "@") { at = end }
      end += 1
    }
    if let at { found(start..<at + 1, true) }
  }

  // MARK: Bytes

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: ";"), UInt8(ascii: "/"),
      UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "("), UInt8(ascii: "{"), UInt8(ascii: "<"),
      UInt8(ascii: ">"), UInt8(ascii: "|"), UInt8(ascii: "!"), UInt8(ascii: "`"), UInt8(ascii: "\""),
      UInt8(ascii: "\\"), UInt8(ascii: "'"), 0...0x20, 0x7F:
      false
    default: true
    }
  }

  /// White space, also as form encoding writes it, and what escapes the quote of JSON inside JSON.
  private static func isBeforeValue(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "\\")
  }

  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\\")
  }

  private static func endsBareValue(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "&"), UInt8(ascii: "#"),
      UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: " "):
      true
    default: false
    }
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "<"),
      UInt8(ascii: ">"), UInt8(ascii: " "), UInt8(ascii: "\\"):
      true
    default: false
    }
  }
}

/// Where the value that begins somewhere ends. Remembers the last answers: many values that end at the same place are
/// read once.
private struct ValueEnds {
  private var ends = [0, 0, 0, 0]

  mutating func end(
    _ text: UnsafeRawBufferPointer, from start: Int, isInPath: Bool, isInsideQuotes: Bool
  ) -> Int {
    let kind = (isInPath ? 1 : 0) + (isInsideQuotes ? 2 : 0)
    guard ends[kind] < start else { return ends[kind] }
    var end = start
    while end < text.count, !Self.endsValue(text[end], isInPath, isInsideQuotes) { end += 1 }
    ends[kind] = end
    return end
  }

  private static func endsValue(_ byte: UInt8, _ isInPath: Bool, _ isInsideQuotes: Bool) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "#"): true
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: ";"): isInPath
    case UInt8(ascii: "\""): isInsideQuotes
    default: false
    }
  }
}

/// Whether anything in a text is long enough to be a token: most texts need not be searched for one.
private struct RunLengths {
  private var tokenStart = 0
  private var base64Start = 0
  private(set) var mayHoldToken = false
  private(set) var mayHoldBase64 = false

  /// Notes a byte that is neither letter nor digit, or the end of the text.
  mutating func end(at index: Int, _ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "+"): break
    case UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: " "): endBase64(at: index)
    case UInt8(ascii: ":"):
      // Of a URL that is a token, or of a scheme of authentication.
      mayHoldToken = true
      endBase64(at: index)
    case UInt8(ascii: "/"): endToken(at: index)
    default:
      endToken(at: index)
      endBase64(at: index)
    }
  }

  /// The shortest token that has a shape: `DPoP` and eight characters.
  private static let tokenBytesMin = 13

  private mutating func endToken(at index: Int) {
    mayHoldToken = mayHoldToken || index - tokenStart >= Self.tokenBytesMin
    tokenStart = index + 1
  }

  private mutating func endBase64(at index: Int) {
    mayHoldBase64 = mayHoldBase64 || index - base64Start >= Base64Probe.charactersMin
    base64Start = index + 1
  }
}
