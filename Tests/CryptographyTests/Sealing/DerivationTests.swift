import Testing

@testable import Cryptography

@Suite struct DerivationTests {
  @Test(arguments: [
    (
      "", "", 4, 1, 1,
      "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
    ),
    (
      "pleaseletmein", "SodiumChloride", 14, 8, 1,
      "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
    ),
  ])
  func `scrypt of RFC 7914`(passphrase: String, salt: String, logN: Int, r: Int, p: Int, key: String) throws {
    let cost = try #require(Scrypt.Cost(logN: logN, r: r, p: p))
    let derived = try Scrypt.derive(Secret(utf8: passphrase), salt: Array(salt.utf8), cost: cost, byteCount: 64)
    #expect(derived.withUnsafeBytes { DigestTests.hex(Array($0)) } == key)
  }

  /// RFC 7914 §11
  @Test(arguments: [
    (
      "passwd", "salt", 1,
      "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783"
    ),
    (
      "Password", "NaCl", 80_000,
      "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d"
    ),
  ])
  func `PBKDF2 with HMAC-SHA-256`(passphrase: String, salt: String, iterations: Int, key: String) throws {
    let derived = try PBKDF2.derive(
      Secret(utf8: passphrase), salt: Array(salt.utf8), iterations: iterations, byteCount: 64)
    #expect(derived.withUnsafeBytes { DigestTests.hex(Array($0)) } == key)
  }

  @Test func `the standard cost takes 128 MiB, and OpenSSL gives them`() throws {
    #expect(Scrypt.Cost.standard.memoryBytes >> 20 == 128)
    #expect(try Scrypt.derive(Secret(utf8: "x"), salt: [1], cost: .standard).count == 32)
  }

  @Test(arguments: [
    (0, 8, 1), (21, 1, 1), (19, 8, 1), (18, 9, 1), (17, 0, 1), (17, 33, 1), (17, 8, 0), (17, 8, 5), (-1, 8, 1),
    (Int.max, 8, 1), (17, Int.max, 1), (17, 8, Int.max),
  ])
  func `a cost that would eat memory or hours does not exist`(logN: Int, r: Int, p: Int) {
    #expect(Scrypt.Cost(logN: logN, r: r, p: p) == nil)
  }

  @Test(arguments: [0, -1, PBKDF2.iterationsMax + 1])
  func `no more do iterations without end`(iterations: Int) {
    #expect(throws: CryptographyError.algorithmRefused) {
      try PBKDF2.derive(Secret(utf8: "x"), salt: [1], iterations: iterations)
    }
  }

  /// NIST CAVP, gcmEncryptExtIV256.rsp; and test case 16 of the GCM specification.
  @Test(arguments: [
    (
      "b52c505a37d78eda5dd34f20c22540ea1b58963cf8e5bf8ffa85f9f2492505b4", "516c33929df5a3284ff463d7", "", "",
      "bdc1ac884d332457a1d2664f168c76f0"
    ),
    (
      "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
      "feedfacedeadbeeffeedfacedeadbeefabaddad2",
      "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39",
      "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b"
    ),
  ])
  func `AES-256-GCM of NIST`(key: String, nonce: String, data: String, plain: String, sealed: String) throws {
    let (key, nonce, data) = (Secret(Self.bytes(key)), Self.bytes(nonce), Self.bytes(data))
    let (plain, sealed) = (Self.bytes(plain), Self.bytes(sealed))
    var result = [UInt8](repeating: 0, count: plain.count + AES256GCM.tagBytes)
    result.withUnsafeMutableBufferPointer { result in
      guard let base = result.baseAddress else { return }
      plain.withUnsafeBytes { AES256GCM.seal($0, key: key, nonce: nonce, data: data, into: base) }
    }
    #expect(result == sealed)
    var opened = [UInt8](repeating: 0, count: plain.count)
    let isOpen = opened.withUnsafeMutableBytes {
      AES256GCM.open(sealed, key: key, nonce: nonce, data: data, into: $0)
    }
    #expect(isOpen && opened == plain)
  }

  static func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
  }
}
