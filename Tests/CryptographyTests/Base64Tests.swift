import Cryptography
import Testing

@Suite struct Base64Tests {
  /// RFC 4648 §10
  static let vectors = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ]

  @Test(arguments: vectors) func `the vectors of RFC 4648 §10`(plain: String, encoded: String) {
    #expect(Base64.encode(plain.utf8) == encoded)
    #expect(Base64.decode(encoded) == Array(plain.utf8))
    let unpadded = String(encoded.prefix { $0 != "=" })
    #expect(Base64URL.encode(plain.utf8) == unpadded)
    #expect(Base64URL.decode(unpadded) == Array(plain.utf8))
  }

  @Test func `every length and every byte survives both ways`() {
    for count in 0...96 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
      #expect(Base64URL.decode(Base64URL.encode(bytes)) == bytes)
      #expect(Base64.decode(Base64.encode(bytes)) == bytes)
      #expect(Base64URL.encode(bytes).utf8.count == Base64URL.encodedCount(count))
    }
    let all = (UInt8.min...UInt8.max).map { $0 }
    #expect(Base64URL.decode(Base64URL.encode(all)) == all)
    #expect(Base64.decode(Base64.encode(all)) == all)
  }

  @Test func `the alphabets differ in the last two characters`() {
    #expect(Base64URL.encode([0xFB, 0xFF]) == "-_8")
    #expect(Base64.encode([0xFB, 0xFF]) == "+/8=")
  }

  @Test(arguments: [
    "Zg==", "Zm8=", "Zg=", "=", "Zm9v=",  // padding
    "Zm9v ", " Zm9v", "Zm 9v", "Zm9v\n", "\tZm9v",  // white space
    "+_8", "-/8", "Zm9v.", "Zm9vé", "Zm9v\u{0}", "Zm9v\u{FF21}",  // foreign characters
    "Z", "Zm9vY",  // impossible lengths
    "Zh", "Zm9", "_x", "AB",  // bits after the last byte
  ])
  func `base64url that is not canonical is refused`(text: String) {
    #expect(Base64URL.decode(text) == nil)
    #expect(Base64URL.decode(utf8: Array(text.utf8)) == nil)
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zm8", "Z===", "====", "Zg==Zg==", "=Zg=", "Zm9v====", "-_8=", "Zm9v\n", "Zm 9v===", "Zh==", "Zm9=",
  ])
  func `base64 that is not canonical is refused`(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test func `encoding into a buffer writes no byte more than it returns`() {
    var buffer = [UInt8](repeating: 0xEE, count: 9)
    let count = Array("foob".utf8).withUnsafeBytes { bytes in
      buffer.withUnsafeMutableBytes { Base64URL.encode(bytes, into: $0) }
    }
    #expect(count == 6)
    #expect(buffer == Array("Zm9vYg".utf8) + [0xEE, 0xEE, 0xEE])
  }
}
