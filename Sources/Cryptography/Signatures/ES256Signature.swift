/// The two forms of a P-256 signature: OpenSSL's DER, of varying length, and JOSE's raw r‖s of exactly 64 bytes.
/// RFC 7518 §3.4
enum ES256Signature {
  static let rawBytes = 64
  /// SEQUENCE of two INTEGERs of up to 33 bytes.
  static let derBytesMax = 72

  /// Writes r and s, each left-padded to 32 bytes; `false` if `der` is not such a SEQUENCE.
  static func writeRaw(der: UnsafeRawBufferPointer, into raw: UnsafeMutableRawBufferPointer) -> Bool {
    precondition(raw.count >= rawBytes, "a raw ES256 signature has 64 bytes")
    guard der.count >= 8, der.count <= derBytesMax, der[0] == 0x30, Int(der[1]) == der.count - 2 else { return false }
    var position = 2
    for half in 0..<2 {
      guard position + 2 <= der.count, der[position] == 0x02 else { return false }
      var start = position + 2
      let end = start + Int(der[position + 1])
      guard end > start, end <= der.count else { return false }
      while start < end, der[start] == 0 { start += 1 }  // the sign byte of DER
      guard end - start <= 32 else { return false }
      let target = UnsafeMutableRawBufferPointer(rebasing: raw[(half * 32)..<(half * 32 + 32)])
      let padding = 32 - (end - start)
      for index in 0..<padding { target[index] = 0 }
      for index in start..<end { target[padding + index - start] = der[index] }
      position = end
    }
    return position == der.count
  }

  /// The DER form of a raw signature.
  static func der(raw: [UInt8]) -> [UInt8] {
    precondition(raw.count == rawBytes, "a raw ES256 signature has 64 bytes")
    let body = integer(raw[..<32]) + integer(raw[32...])
    return [0x30, UInt8(body.count)] + body
  }

  private static func integer(_ half: ArraySlice<UInt8>) -> [UInt8] {
    var digits = Array(half.drop { $0 == 0 })
    if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
    return [0x02, UInt8(digits.count)] + digits
  }
}
