import Cryptography
import Testing

@Suite struct ThumbprintTests {
  @Test func `the RSA key of RFC 7638 §3.1 has the thumbprint printed there`() throws {
    let key = try JWK(json: Array(Vectors.rfc7638Key.utf8))
    #expect(key.thumbprint == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
  }

  @Test func `the thumbprint of an Ed25519 key is that of RFC 8037 A.3`() throws {
    let key = try JWK(json: Array(Vectors.rfc8037Key.utf8))
    #expect(key.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
  }

  @Test func `the P-256 key of the RFC 9449 examples has the jkt printed in RFC 9449 §6.1`() throws {
    let proof = try JSONWebSignature(compact: Vectors.rfc9449TokenRequestProof)
    #expect(proof.embeddedKey?.thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
  }
}
