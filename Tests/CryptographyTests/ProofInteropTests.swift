import Foundation
import Testing

@testable import Cryptography

/// 10,000 proofs of several keys, methods, URLs, tokens and nonces.
///
/// With `PROOFD_PROOFS_OUT` they go into that file, for `Tests/Interop/verify_proofs.py`; without, they are verified by
/// our own code.
@Suite struct ProofInteropTests {
  static let proofCount = 10_000

  private struct Sent {
    let request: ProofRequest
    let accessToken: String?
    let key: ProofKey
    let proof: String

    /// One line as verify_proofs.py reads it.
    var line: String {
      var members = [
        ("proof", proof), ("htm", request.htm), ("htu", request.htu), ("jkt", key.thumbprint),
      ]
      if let accessToken { members.append(("access_token", accessToken)) }
      if !request.nonce.isEmpty { members.append(("nonce", request.nonce)) }
      return "{" + members.map { #""\#($0)":\#(JSONText.quoted($1))"# }.joined(separator: ",") + "}\n"
    }
  }

  @Test func `10,000 proofs verify`() throws {
    if let path = ProcessInfo.processInfo.environment["PROOFD_PROOFS_OUT"] {
      try Data(sent().map(\.line).joined().utf8).write(to: URL(filePath: path))
    } else {
      try sent().forEach(verify)
    }
  }

  private func sent() throws -> [Sent] {
    let keys = [
      try ProofKey.ofScalar(IndependentVectors.scalarOfShortX), try .ofScalar(IndependentVectors.scalarOfShortY),
      .generate(), .generate(),
    ]
    let signers = keys.map { ProofSigner(key: $0) }
    let methods = ["GET", "POST", "PATCH", "QUERY", "get", "M-SEARCH"]
    let urls = [
      "https://api.example.com/", "https://api.example.com/v1/orders", "https://api.example.com:8443/a//b/",
      "https://[2001:db8::1]/%7Euser/%c3%a9", #"http://localhost:9000/quote"back\slash"#,
    ]
    let tokens = [nil, Vectors.rfc9449AccessToken, Vectors.rfc7515ES256]
    let nonces = ["", "eyJ7S_zG.eyJH0-Z.HX4w-7v", "!#$%&'()*+,-./:;<=>?@[]^_`{|}~"]
    return try (0..<Self.proofCount).map { index in
      let token = tokens[index % tokens.count]
      let request = ProofRequest(
        htm: methods[index % methods.count], htu: urls[index % urls.count],
        ath: token.map { Base64URL.encode(SHA256.hash(Array($0.utf8))) } ?? "",
        nonce: nonces[index / tokens.count % nonces.count], issuedAtUnixSeconds: Int64(Date().timeIntervalSince1970))
      let signer = index % signers.count
      return Sent(request: request, accessToken: token, key: keys[signer], proof: try signers[signer].proof(request))
    }
  }

  private func verify(_ sent: Sent) throws {
    let proof = try JSONWebSignature(compact: sent.proof)
    try proof.verify(with: sent.key.publicJWK, algorithms: [.es256])
    #expect(proof.embeddedKey?.thumbprint == sent.key.thumbprint)
    let claims = try #require(JSONReader.object(proof.payload))
    #expect(claims["htm"] == .string(sent.request.htm) && claims["htu"] == .string(sent.request.htu))
    #expect(claims["ath"]?.text ?? "" == sent.request.ath && claims["nonce"]?.text ?? "" == sent.request.nonce)
  }
}
