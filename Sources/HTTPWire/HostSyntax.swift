/// The syntax of `uri-host [":" port]` as the gateway accepts it: narrower than RFC 3986, which lets a host hold
/// percent-encodings and sub-delimiters that nobody resolves and everybody splits differently.
enum HostSyntax {
  /// RFC 9110 §7.2
  static func isHostAndPort(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let end = endOfHost(bytes) else { return false }
    return end == bytes.count || isPort(bytes.slice(end..<bytes.count))
  }

  /// Where the host ends (at the colon of the port, or at the count), or nil if there is none.
  static func endOfHost(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard let first = bytes.first else { return nil }
    if first == UInt8(ascii: "[") {
      var at = 1
      while at < bytes.count, isIPv6Byte(bytes[at]) { at += 1 }
      guard at > 2, at < bytes.count, bytes[at] == UInt8(ascii: "]") else { return nil }
      return at + 1
    }
    var at = 0
    while at < bytes.count, isNameByte(bytes[at]) { at += 1 }
    return at > 0 ? at : nil
  }

  static func isNameByte(_ byte: UInt8) -> Bool { ASCII.isUnreserved(byte) }

  private static func isIPv6Byte(_ byte: UInt8) -> Bool {
    ASCII.hexValue(byte) != nil || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
  }

  /// A colon and 1 to 65535 in at most five digits.
  private static func isPort(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes.count >= 2, bytes.count <= 6, bytes[0] == UInt8(ascii: ":") else { return false }
    var port = 0
    for byte in bytes.slice(1..<bytes.count) {
      guard ASCII.isDigit(byte) else { return false }
      port = port * 10 + Int(byte & 0x0F)
    }
    return port >= 1 && port <= 65_535
  }
}
