import Cryptography
import HTTPWire
import Testing

@testable import Simulators

/// Proofs and keys as they are on the wire, at both servers. RFC 7515, RFC 7517, RFC 7638, RFC 9449 §4.2
@Suite(.timeLimit(.minutes(5))) struct KeyCaseTests {
  /// A scene with some hundred proofs for both servers.
  private func withProofs(_ body: @Sendable ([SentProof], Scene) async throws -> Void) async throws {
    try await Scene.play(.dpop(nonces: .rotate)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call(times: 150, "/api/echo")
      scene.simulation.revokeTokens()
      _ = try await client.call(times: 150, "/api/echo")
      try await body((scene.tokenRequests + scene.arrived).map { try SentProof($0) }, scene)
    }
  }

  @Test func `C44 signatures are 64 bytes and coordinates 32, without padding`() async throws {
    try await withProofs { proofs, _ in
      #expect(proofs.count > 300)
      for proof in proofs {
        #expect(proof.signature.count == 64)
        for name in ["x", "y"] {
          let text = try #require(proof.jwk?[name]?.stringValue)
          #expect(text.utf8.count == 43)
          #expect(Base64URL.decode(text)?.count == 32)
        }
        #expect(!proof.compact.contains("="))
      }
    }
  }

  @Test func `C45 the token is bound to the thumbprint of the proofs' key`() async throws {
    try await withProofs { proofs, scene async throws in
      let payload = try #require(scene.arrived.last?.token?.split(separator: ".").dropFirst().first)
      let claims = try JSONValue(parsing: try #require(Base64URL.decode(payload)))
      let jkt = try #require(claims["cnf"]?["jkt"]?.stringValue)
      #expect(proofs.allSatisfy { $0.thumbprint == jkt })
    }
  }

  @Test func `C46 no proof has a private key, nor any member or claim that is not asked for`() async throws {
    try await withProofs { proofs, _ in
      for proof in proofs {
        #expect(proof.header.objectValue?.map(\.0).sorted() == ["alg", "jwk", "typ"])
        #expect(proof.header["typ"] == "dpop+jwt")
        #expect(proof.header["alg"] == "ES256")
        #expect(proof.jwk?.objectValue?.map(\.0).sorted() == ["crv", "kty", "x", "y"])
        let claims = Set(proof.claims.objectValue?.map(\.0) ?? [])
        #expect(claims.isSuperset(of: ["jti", "htm", "htu", "iat"]))
        #expect(claims.isSubset(of: ["jti", "htm", "htu", "iat", "ath", "nonce"]))
        #expect(proof.issuedAtUnixSeconds != nil)
      }
    }
  }

  @Test func `C48 one key signs for the token endpoint and the API, as long as the daemon lives`() async throws {
    try await withProofs { proofs, scene async throws in
      #expect(Set(proofs.map(\.thumbprint)).count == 1)
      #expect(Set(scene.arrived.map(\.token)).count == 2)
      let jtis = proofs.compactMap(\.jti)
      #expect(Set(jtis).count == proofs.count)
      // 128 bits. RFC 9449 §4.2 asks for 96.
      #expect(jtis.allSatisfy { $0.utf8.count >= 22 })
    }
  }
}
