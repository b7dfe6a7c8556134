import Cryptography
import Testing

@Suite struct SignatureVectorTests {
  @Test(arguments: [
    (Vectors.rfc7515ES256, Vectors.rfc7515ECKey, JWSAlgorithm.es256),
    (Vectors.rfc7515RS256, Vectors.rfc7515RSAKey, .rs256),
    (Vectors.rfc8037Signature, Vectors.rfc8037Key, .edDSA),
    (IndependentVectors.ps256, IndependentVectors.ps256Key, .ps256),
  ])
  func `signatures others made verify`(
    token: String, key: String, algorithm: JWSAlgorithm
  ) throws {
    let signature = try JSONWebSignature(compact: token)
    #expect(signature.algorithm == algorithm)
    try signature.verify(with: JWK(json: Array(key.utf8)), algorithms: [algorithm])
  }

  @Test func `the two proofs printed in RFC 9449 verify with the key they carry`() throws {
    for compact in [Vectors.rfc9449TokenRequestProof, Vectors.rfc9449ResourceProof] {
      let proof = try JSONWebSignature(compact: compact)
      #expect(proof.type == "dpop+jwt")
      try proof.verify(with: #require(proof.embeddedKey), algorithms: [.es256])
    }
  }

  @Test func `the ath of RFC 9449 §7.1 is the hash of its access token`() throws {
    let ath = Base64URL.encode(SHA256.hash(Array(Vectors.rfc9449AccessToken.utf8)))
    #expect(ath == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
    let payload = try JSONWebSignature(compact: Vectors.rfc9449ResourceProof).payload
    #expect(String(decoding: payload, as: UTF8.self).hasSuffix(#""ath":"\#(ath)"}"#))
  }
}
