import Cryptography
import Testing

@Suite struct DigestTests {
  static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `SHA-256 of the NIST examples`(message: String, digest: String) {
    #expect(Self.hex(SHA256.hash(Array(message.utf8))) == digest)
  }

  @Test func `a digest is written to the start of the buffer and no further`() {
    var buffer = [UInt8](repeating: 0xEE, count: 34)
    Array("abc".utf8).withUnsafeBytes { bytes in
      buffer.withUnsafeMutableBytes { SHA256.hash(bytes, into: $0) }
    }
    #expect(buffer == SHA256.hash(Array("abc".utf8)) + [0xEE, 0xEE])
  }

  @Test func `a message that comes in pieces has the digest of the whole, and the stream starts again`() {
    let message = (0..<1000).map { UInt8($0 % 256) }
    let stream = SHA256Stream()
    for size in [1, 7, 64, 999, 1000] {
      for start in stride(from: 0, to: message.count, by: size) {
        message[start..<min(start + size, message.count)].withUnsafeBytes { stream.update($0) }
      }
      #expect(stream.finish() == SHA256.hash(message))
    }
    #expect(stream.finish() == SHA256.hash([]))
  }

  /// RFC 4231 §4.2, §4.3, §4.7
  @Test(arguments: [
    (
      [UInt8](repeating: 0x0B, count: 20), "Hi There",
      "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    ),
    (
      Array("Jefe".utf8), "what do ya want for nothing?",
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    ),
    (
      [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    ),
  ])
  func `HMAC-SHA-256 of RFC 4231`(key: [UInt8], message: String, code: String) {
    let authenticated = Array(message.utf8).withUnsafeBytes { HMACSHA256.authenticate($0, key: Secret(key)) }
    #expect(Self.hex(authenticated) == code)
  }

  @Test func `an empty key and an empty message have an HMAC`() {
    let empty = UnsafeRawBufferPointer(start: nil, count: 0)
    #expect(
      Self.hex(HMACSHA256.authenticate(empty, key: Secret([])))
        == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test func `random bytes have the length asked for and do not repeat`() {
    #expect(SecureRandom.bytes(0).isEmpty)
    #expect(SecureRandom.bytes(33).count == 33)
    #expect(Set((0..<1000).map { _ in SecureRandom.bytes(16) }).count == 1000)
  }
}
