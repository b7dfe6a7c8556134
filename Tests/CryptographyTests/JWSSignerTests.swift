import COpenSSL
import Testing

@testable import Cryptography

@Suite struct JWSSignerTests {
  private func key(_ text: String) throws -> SigningKey { try SigningKey(parsing: Secret(utf8: text)) }

  /// The header and the payload of a compact JWS.
  private func parts(_ compact: String) throws -> (header: [UInt8], payload: [UInt8]) {
    let segments = compact.split(separator: ".")
    return (try #require(Base64URL.decode(segments[0])), try #require(Base64URL.decode(segments[1])))
  }

  @Test(arguments: [
    (PrivateVectors.rfc7515RSAKey, Vectors.rfc7515RS256), (PrivateVectors.rfc8037Key, Vectors.rfc8037Signature),
  ])
  func `RFC 7515 A.2 RFC 8037 A.4 what signs without chance gives the printed signature`(
    text: String, printed: String
  ) throws {
    let (header, payload) = try parts(printed)
    #expect(try JSONWebSignature.sign(header: header, payload: payload, signer: JWSSigner(key: key(text))) == printed)
  }

  @Test func `RFC 7515 A.1 a shared secret gives the printed signature`() throws {
    let secret = Secret(try #require(Base64URL.decode(PrivateVectors.rfc7515Secret)))
    let (header, payload) = try parts(PrivateVectors.rfc7515HS256)
    let signer = try JWSSigner(secret: secret)
    #expect(
      try JSONWebSignature.sign(header: header, payload: payload, signer: signer) == PrivateVectors.rfc7515HS256)
    #expect(signer.secret == secret)
  }

  @Test(arguments: [
    (PEMVectors.rsaPKCS1, JWSAlgorithm.rs256), (PEMVectors.rsaPKCS8, .ps256), (PEMVectors.ecSEC1, .es256),
    (PEMVectors.ed25519PKCS8, .edDSA),
  ])
  func `what is signed verifies with the public half, and its header says how`(
    text: String, algorithm: JWSAlgorithm
  ) throws {
    let key = try key(text)
    let signer = try JWSSigner(key: key, algorithm: algorithm, keyID: #"key "1""#)
    for _ in 0..<20 {
      let signature = try JSONWebSignature(
        compact: JSONWebSignature.sign(payload: Array("{}".utf8), type: "JWT", signer: signer))
      #expect(signature.algorithm == algorithm)
      #expect(signature.type == "JWT")
      #expect(signature.keyID == #"key "1""#)
      try signature.verify(with: key.publicJWK, algorithms: [algorithm])
    }
    #expect(signer.secret == nil)
    #expect(ERR_peek_error() == 0)
  }

  @Test(arguments: [
    (PEMVectors.rsaPKCS1, JWSAlgorithm.es256), (PEMVectors.rsaPKCS1, .edDSA), (PEMVectors.ecSEC1, .rs256),
    (PEMVectors.ecSEC1, .ps256), (PEMVectors.ecSEC1, .edDSA), (PEMVectors.ed25519PKCS8, .es256),
  ])
  func `RFC 8725 §3.2 an algorithm of another kind of key is refused`(text: String, algorithm: JWSAlgorithm) {
    #expect(throws: CryptographyError.algorithmRefused) { try JWSSigner(key: key(text), algorithm: algorithm) }
  }

  @Test(arguments: [
    (PEMVectors.rsaPKCS1, "RS256"), (PEMVectors.ecSEC1, "ES256"), (PEMVectors.ed25519PKCS8, "EdDSA"),
  ])
  func `each kind of key has its usual algorithm`(text: String, name: String) throws {
    #expect(try JWSSigner(key: key(text)).algorithmName == name)
  }

  @Test func `the name a JWK brings is used unless another is given`() throws {
    let named = try key(PrivateVectors.rfc8037Key.replacing(#"{"kty""#, with: #"{"kid":"own","kty""#))
    #expect(try JWSSigner(key: named).keyID == "own")
    #expect(try JWSSigner(key: named, keyID: "given").keyID == "given")
  }

  @Test func `RFC 7518 §3.2 a secret that is too short for HS256 is refused`() throws {
    #expect(throws: CryptographyError.malformedKey(.secretTooShort)) {
      try JWSSigner(secret: Secret([UInt8](repeating: 1, count: JWSSigner.secretBytesMin - 1)))
    }
    let signer = try JWSSigner(secret: Secret([UInt8](repeating: 1, count: JWSSigner.secretBytesMin)), keyID: "k")
    #expect(signer.algorithmName == "HS256")
    #expect(signer.keyID == "k")
  }
}
