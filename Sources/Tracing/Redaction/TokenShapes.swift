import HTTPWire

/// Finds what looks like a token, wherever it stands.
enum TokenShapes {
  private enum Finding {
    case token(Range<Int>)
    /// Looked at as a whole and found harmless, up to here.
    case harmless(end: Int)
  }

  /// Calls `found` with the place of each.
  ///
  /// - Parameter pathEnd: up to where `/` separates; behind it, it may be part of base64.
  static func scan(_ text: UnsafeRawBufferPointer, pathEnd: Int, _ found: (Range<Int>) -> Void) {
    var index = 0
    var previous: UInt8 = 0
    while index < text.count {
      let byte = text[index]
      let isWordStart = !previous.isWordByte
      guard mayBegin(byte, isWordStart: isWordStart) else {
        previous = byte
        index += 1
        continue
      }
      switch finding(in: text, at: index, isWordStart: isWordStart, pathEnd: pathEnd) {
      case .token(let range):
        found(range)
        index = range.upperBound
      case .harmless(let end): index = end
      case nil: index += 1
      }
      previous = text[index - 1]
    }
  }

  /// Whether anything begins with such a byte at such a place; nearly all do not.
  private static func mayBegin(_ byte: UInt8, isWordStart: Bool) -> Bool {
    if byte == UInt8(ascii: "e") { return true }
    if byte.isWordByte { return isWordStart }
    return byte == UInt8(ascii: " ") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
  }

  private static func finding(
    in text: UnsafeRawBufferPointer, at index: Int, isWordStart: Bool, pathEnd: Int
  ) -> Finding? {
    let finding: Finding? =
      switch text[index] {
      case UInt8(ascii: "e"): jsonWebToken(text, at: index, isWordStart: isWordStart, pathEnd: pathEnd)
      case UInt8(ascii: " "), UInt8(ascii: "+"): token68(text, afterSchemeAt: index)
      case UInt8(ascii: "-"): privateKey(text, at: index)
      case UInt8(ascii: "o") where isWordStart: oneTimePasswordKey(text, at: index)
      case UInt8(ascii: "P") where isWordStart: saml(text, at: index, pathEnd: pathEnd)
      default: nil
      }
    guard finding == nil, isWordStart, text.count - index >= KnownTokens.byteCountMin else { return finding }
    return KnownTokens.end(in: text, at: index).map { .token(index..<$0) }
  }

  /// A JWS or JWE, whole or cut off: base64url of `{"`, then parts with dots between them, of which any may be missing.
  /// RFC 7515 §7.1, RFC 7516 §7.1
  private static func jsonWebToken(
    _ text: UnsafeRawBufferPointer, at start: Int, isWordStart: Bool, pathEnd: Int
  ) -> Finding? {
    let isUsual = text.holds("eyJ", at: start)
    guard isUsual || isWordStart && beginsWithSpacedBrace(text, at: start) else { return nil }
    let headerEnd = runEnd(text, from: start, pathEnd: pathEnd, countMax: isUsual ? .max : spacedHeaderBytesMax)
    var end = headerEnd
    var dots = 0
    while dots < 4, end < text.count, text[end] == UInt8(ascii: ".") {
      let next = runEnd(text, from: end + 1, pathEnd: pathEnd)
      if next == end + 1, dots == 0, !isUsual { break }
      end = next
      dots += 1
    }
    if dots == 0 {
      guard isUsual, end - start >= KnownTokens.byteCountMin else { return nil }
      return isOrdinaryJSON(text[start..<end]) ? .harmless(end: end) : .token(start..<end)
    }
    return end - (isUsual ? start : headerEnd) >= KnownTokens.byteCountMin ? .token(start..<end) : nil
  }

  /// Whether base64 of an object holds something else than the header or the claims of a token: a page cursor.
  private static func isOrdinaryJSON(_ run: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let json = Base64Probe.text(in: UnsafeRawBufferPointer(rebasing: run)) else { return false }
    return json.withUnsafeBytes { json in
      let nameEnd = json.dropFirst(2).firstIndex(of: UInt8(ascii: "\"")) ?? json.count
      return !tokenMembers.contains { $0.utf8CodeUnitCount == nameEnd - 2 && json.holds($0, at: 2) }
        && !tokenMembers.contains { json.count < 2 + $0.utf8CodeUnitCount && nameEnd == json.count }
    }
  }

  /// What the object of a token begins with. RFC 7515 §4.1, RFC 7516 §4.1, RFC 7519 §4.1
  private static let tokenMembers: [StaticString] = [
    "alg", "enc", "typ", "kid", "cty", "zip", "jku", "jwk", "x5u", "x5c", "x5t", "x5t#S256", "crit", "epk", "apu",
    "apv", "b64", "iv", "tag", "p2s", "p2c", "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "ver", "azp", "scope",
    "scp",
    "client_id", "nonce", "sid",
  ]

  /// Headers of other beginnings are looked for up to this length, or texts made of such beginnings would take
  /// quadratic time.
  private static let spacedHeaderBytesMax = 512

  /// Base64url of `{` and white space, or of `{}`.
  private static func beginsWithSpacedBrace(_ text: UnsafeRawBufferPointer, at start: Int) -> Bool {
    text.holds("eyA", at: start) || text.holds("ewo", at: start) || text.holds("ewk", at: start)
      || text.holds("ew0", at: start) || text.holds("e30.", at: start)
  }

  /// What follows `Bearer`, `DPoP` or `Basic` and a space. RFC 9110 §11.2
  private static func token68(_ text: UnsafeRawBufferPointer, afterSchemeAt space: Int) -> Finding? {
    let isScheme =
      text.holds(caseless: "bearer", at: space - 6) || text.holds(caseless: "basic", at: space - 5)
      || text.holds(caseless: "dpop", at: space - 4)
    guard isScheme else { return nil }
    var start = space
    while start < text.count, text[start] == UInt8(ascii: " ") || text[start] == UInt8(ascii: "+") { start += 1 }
    var end = start
    var hasDigit = false
    var hasUpper = false
    var hasLower = false
    while end < text.count, isToken68Byte(text[end]) {
      hasDigit = hasDigit || ASCII.isDigit(text[end])
      hasUpper = hasUpper || end > start && text[end] &- UInt8(ascii: "A") < 26
      hasLower = hasLower || text[end] &- UInt8(ascii: "a") < 26
      end += 1
    }
    // Not "basic introduction".
    let isWord = !hasDigit && !(hasUpper && hasLower) && end - start < 24
    return end - start >= 8 && !isWord ? .token(start..<end) : nil
  }

  /// A PEM private key to its end, or to the end of the value if that is missing. RFC 7468 §10
  private static func privateKey(_ text: UnsafeRawBufferPointer, at start: Int) -> Finding? {
    guard text.holds("-----BEGIN", at: start) else { return nil }
    let labelEnd = min(text.count, start + 48)
    guard (start..<labelEnd).contains(where: { text.holds("KEY-----", at: $0) }) else { return nil }
    return .token(start..<valueEnd(text, from: start))
  }

  /// The secret of an authenticator, as its QR code holds it.
  private static func oneTimePasswordKey(_ text: UnsafeRawBufferPointer, at start: Int) -> Finding? {
    text.holds(caseless: "otpauth://", at: start) ? .token(start..<valueEnd(text, from: start)) : nil
  }

  /// Base64 of an XML document or a SAML message.
  private static func saml(_ text: UnsafeRawBufferPointer, at start: Int, pathEnd: Int) -> Finding? {
    guard text.holds("PHNhbWx", at: start) || text.holds("PD94bWw", at: start) else { return nil }
    let end = runEnd(text, from: start, pathEnd: pathEnd)
    return end - start >= KnownTokens.byteCountMin ? .token(start..<end) : nil
  }

  private static func valueEnd(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
    text[start...].firstIndex { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: "#") } ?? text.count
  }

  /// The end of the run of base64 characters, of either alphabet, with its padding.
  static func runEnd(
    _ text: UnsafeRawBufferPointer, from start: Int, pathEnd: Int, countMax: Int = .max
  ) -> Int {
    var end = start
    while end < text.count, end - start < countMax {
      let byte = text[end]
      guard Base64Probe.isCharacter(byte), byte != UInt8(ascii: "/") || end >= pathEnd else { break }
      end += 1
    }
    guard end > start else { return end }
    for _ in 0..<2 where end < text.count && text[end] == UInt8(ascii: "=") { end += 1 }
    return end
  }

  private static func isToken68Byte(_ byte: UInt8) -> Bool {
    ASCII.isUnreserved(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "=")
  }
}
