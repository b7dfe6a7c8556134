import Cryptography

/// What stands in the place of a secret: `[redacted:1a2b3c4d]`.
///
/// The hex is the start of an HMAC under a key that dies with the process: equal secrets can be told equal within one
/// run, and nothing can be looked up.
enum RedactionMarker {
  static let byteCount = 19
  private static let key = Secret(SecureRandom.bytes(SHA256.byteCount))
  private static let opening: StaticString = "[redacted:"

  /// Appends the marker for a value; however often it was percent-encoded, it has the same one.
  static func append(for value: UnsafeRawBufferPointer, to output: inout [UInt8]) {
    let digits: StaticString = "0123456789abcdef"
    output.append(contentsOf: UnsafeBufferPointer(start: opening.utf8Start, count: opening.utf8CodeUnitCount))
    for byte in code(of: value).prefix(4) {
      output.append(digits.utf8Start[Int(byte >> 4)])
      output.append(digits.utf8Start[Int(byte & 15)])
    }
    output.append(UInt8(ascii: "]"))
  }

  private static func code(of value: UnsafeRawBufferPointer) -> [UInt8] {
    guard value.contains(UInt8(ascii: "%")) else { return HMACSHA256.authenticate(value, key: key) }
    var decoded: [UInt8] = []
    _ = LayerWalker([.percent], depthMax: LayerWalker.percentLayersMax).walk(value) { decoded = Array($0.bytes) }
    return decoded.withUnsafeBytes { HMACSHA256.authenticate($0, key: key) }
  }

  /// Whether a marker begins at `start`.
  static func begins(at start: Int, in text: UnsafeRawBufferPointer) -> Bool {
    guard start >= 0, text.count - start >= byteCount, text[start] == UInt8(ascii: "[") else { return false }
    guard text[start + byteCount - 1] == UInt8(ascii: "]"), text.holds(opening, at: start) else { return false }
    return text[(start + 10)..<(start + 18)].allSatisfy {
      $0 &- 0x30 < 10 || $0 &- UInt8(ascii: "a") < 6
    }
  }
}
