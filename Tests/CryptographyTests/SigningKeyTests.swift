import COpenSSL
import Testing

@testable import Cryptography

@Suite struct SigningKeyTests {
  private func key(_ text: String) throws(CryptographyError) -> SigningKey {
    try SigningKey(parsing: Secret(utf8: text))
  }

  @Test(arguments: [
    (PEMVectors.rsaPKCS1, Vectors.rfc7515RSAKey, [JWSAlgorithm.rs256, .ps256]),
    (PEMVectors.rsaPKCS8, Vectors.rfc7515RSAKey, [.rs256, .ps256]),
    (PrivateVectors.rfc7515RSAKey, Vectors.rfc7515RSAKey, [.rs256, .ps256]),
    (PEMVectors.ecSEC1, Vectors.rfc7515ECKey, [.es256]), (PEMVectors.ecPKCS8, Vectors.rfc7515ECKey, [.es256]),
    (PrivateVectors.rfc7515ECKey, Vectors.rfc7515ECKey, [.es256]),
    (PEMVectors.ed25519PKCS8, Vectors.rfc8037Key, [.edDSA]),
    (PrivateVectors.rfc8037Key, Vectors.rfc8037Key, [.edDSA]),
  ])
  func `a key is read in each of its forms`(text: String, publicKey: String, algorithms: [JWSAlgorithm]) throws {
    let key = try key(text)
    #expect(try key.publicJWK == JWK(json: Array(publicKey.utf8)))
    #expect(key.algorithms == algorithms)
    #expect(key.keyID == nil)
    #expect(ERR_peek_error() == 0)
  }

  @Test func `what stands around a key is passed over`() throws {
    let text = "a comment\n\(PEMVectors.ecPublic)\n\n\(PEMVectors.ecPKCS8)\r\n\n"
    #expect(try key(text).algorithms == [.es256])
    #expect(try key(" \r\n\t\(PrivateVectors.rfc8037Key)\n").algorithms == [.edDSA])
  }

  @Test func `a JWK brings its own name`() throws {
    let named = PrivateVectors.rfc8037Key.replacing(#"{"kty""#, with: #"{"kid":"one","use":"sig","kty""#)
    #expect(try key(named).keyID == "one")
  }

  @Test(
    arguments: [
      (PEMVectors.encryptedPKCS8, .encrypted), (PEMVectors.encryptedSEC1, .encrypted),
      (PEMVectors.smallRSA, .modulusSize), (PEMVectors.rsaPSS, .unsupportedType), (PEMVectors.x25519, .unsupportedType),
      (PEMVectors.openSSH, .unsupportedType), (PEMVectors.ecPublic, .publicKey),
      (PEMVectors.ecPKCS8 + "\n" + PEMVectors.ed25519PKCS8, .several),
      (PEMVectors.ecPKCS8 + "\n" + PEMVectors.encryptedSEC1, .several), ("", .notPrivateKeyText),
      ("not a key", .notPrivateKeyText), ("-----BEGIN PRIVATE KEY-----\nAA==\n", .notPrivateKeyText),
      ("-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n", .notPrivateKeyText),
      (PEMVectors.ecPKCS8.replacing("PRIVATE KEY", with: "RSA PRIVATE KEY"), .notPrivateKeyText),
      (String(repeating: " ", count: SigningKey.textBytesMax + 1), .tooLarge), ("{", .notJSON),
      (Vectors.rfc7515RSAKey, .publicKey), (Vectors.rfc8037Key, .publicKey),
      (#"{"kty":"oct","k":"AAAA"}"#, .unsupportedType), (#"{"kty":"EC","crv":"P-384","d":"AAAA"}"#, .unsupportedType),
    ] as [(String, KeyDefect)])
  func `what is no key to sign with is refused with its defect`(text: String, defect: KeyDefect) {
    #expect(throws: CryptographyError.malformedKey(defect)) { try key(text) }
    #expect(ERR_peek_error() == 0)
  }

  @Test(arguments: [
    ("secp256k1", IndependentVectors.secp256k1PKCS8), ("P-384", IndependentVectors.p384PKCS8),
  ])
  func `a key of another curve is refused`(curve: String, encoded: String) {
    let text = "-----BEGIN PRIVATE KEY-----\n\(encoded)\n-----END PRIVATE KEY-----\n"
    #expect(throws: CryptographyError.malformedKey(.unsupportedType)) { try key(text) }
  }

  @Test(arguments: ["d", "p", "q", "dp", "dq", "qi"])
  func `RFC 7518 §6.3.2 an RSA key has all its numbers`(name: String) {
    let cut = PrivateVectors.rfc7515RSAKey.replacing(#""\#(name)":"#, with: #""x-\#(name)":"#)
    #expect(throws: CryptographyError.malformedKey(.memberMissing)) { try key(cut) }
  }

  @Test func `an RSA key of more than two primes is refused`() {
    let text = PrivateVectors.rfc7515RSAKey.replacing(#"{"kty""#, with: #"{"oth":[],"kty""#)
    #expect(throws: CryptographyError.malformedKey(.unsupportedType)) { try key(text) }
  }

  @Test(arguments: [
    // One number of the RSA key with another last digit.
    (PrivateVectors.rfc7515RSAKey, #"DhOVRuOopznQ""#, #"DhOVRuOopznA""#),
    // Halves of two keys.
    (PrivateVectors.rfc8037Key, "nWGxne", "nWGxnf"), (PrivateVectors.rfc7515ECKey, "jpsQnn", "jpsQnm"),
    // 0 and too few bytes.
    (
      PrivateVectors.rfc7515ECKey, "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    ), (PrivateVectors.rfc8037Key, "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A", "nWGxnQ"),
  ])
  func `halves that do not belong together are refused`(text: String, part: String, other: String) {
    let altered = text.replacing(part, with: other)
    #expect(altered != text)
    #expect(throws: CryptographyError.malformedKey(.halvesDiffer)) { try key(altered) }
  }

  @Test func `no defect tells anything of the key`() {
    for text in [PEMVectors.encryptedSEC1, PrivateVectors.rfc7515ECKey.replacing("jpsQnn", with: "jpsQnm")] {
      let error = #expect(throws: CryptographyError.self) { try key(text) }
      #expect(error.map { "\($0) \(String(reflecting: $0))".contains("jps") } == false)
    }
  }
}
