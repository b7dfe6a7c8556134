import COpenSSL
import Testing

@testable import Cryptography

/// The queue belongs to the thread: what a failure here leaves behind, the next TLS read on the loop would report.
@Suite struct ErrorQueueTests {
  @Test func `a failure leaves no error behind`() throws {
    let token = try JSONWebSignature(compact: Vectors.rfc7515RS256)
    let failures: [() throws -> Void] = [
      { _ = try ProofKey(pkcs8: Secret([1, 2, 3])) },
      { _ = try JWK(json: Array(#"{"kty":"EC","crv":"P-256","x":"\#(zeros)","y":"\#(zeros)"}"#.utf8)) },
      { try token.verify(with: JWK(json: Array(IndependentVectors.ps256Key.utf8)), algorithms: [.rs256]) },
    ]
    for fail in failures {
      #expect(throws: CryptographyError.self) { try fail() }
      #expect(ERR_peek_error() == 0)
    }
  }

  @Test func `an error somebody else left behind is not taken for ours`() throws {
    let key = ProofKey.generate()
    let token = try JSONWebSignature(compact: JSONWebSignature.sign(payload: [], type: "JWT", key: key))
    let signer = ProofSigner(key: key)
    let operations: [() throws -> Void] = [
      { _ = try signer.proof(ProofRequest()) },
      { _ = try key.exportPrivate() },
      { try token.verify(with: key.publicJWK, algorithms: [.es256]) },
      { _ = SHA256.hash([]) },
    ]
    for operate in operations {
      var garbage: UnsafePointer<UInt8>?
      [UInt8](repeating: 7, count: 8).withUnsafeBufferPointer { bytes in
        garbage = bytes.baseAddress
        _ = d2i_AutoPrivateKey(nil, &garbage, bytes.count)
      }
      #expect(ERR_peek_error() != 0)
      #expect(throws: Never.self) { try operate() }
      #expect(ERR_peek_error() == 0)
    }
  }

  private var zeros: String { Base64URL.encode([UInt8](repeating: 0, count: 32)) }
}
