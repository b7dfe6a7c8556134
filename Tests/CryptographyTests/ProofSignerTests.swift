import Testing

@testable import Cryptography

@Suite struct ProofSignerTests {
  let key = ProofKey.generate()

  @Test func `a proof verifies with the key it carries`() throws {
    let compact = try ProofSigner(key: key).proof(ProofRequest())
    let proof = try JSONWebSignature(compact: compact)
    #expect(proof.embeddedKey == key.publicJWK)
    try proof.verify(with: key.publicJWK, algorithms: [.es256])
  }
}
