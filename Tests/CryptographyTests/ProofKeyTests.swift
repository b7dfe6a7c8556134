import Testing

@testable import Cryptography

@Suite struct ProofKeyTests {
  @Test func `an exported key comes back as the same key`() throws {
    let key = ProofKey.generate()
    let again = try ProofKey(pkcs8: key.exportPrivate())
    #expect(again.publicJWK == key.publicJWK)
    #expect(again.thumbprint == key.thumbprint)
    #expect(try again.exportPrivate() == key.exportPrivate())
    let token = try JSONWebSignature.sign(payload: [], type: "JWT", key: again)
    try JSONWebSignature(compact: token).verify(with: key.publicJWK, algorithms: [.es256])
  }

  @Test func `two generated keys are two`() {
    #expect(ProofKey.generate().thumbprint != ProofKey.generate().thumbprint)
  }

  @Test func `a private number gives the public half printed beside it in RFC 7515`() throws {
    let scalar = try #require(Base64URL.decode(Vectors.rfc7515ECScalar))
    let key = try ProofKey(scalar: Secret(scalar))
    #expect(try key.publicJWK == JWK(json: Array(Vectors.rfc7515ECKey.utf8)))
  }

  @Test func `a key another implementation wrote is read, and ours is byte for byte the same`() throws {
    let der = Secret(try #require(Base64.decode(IndependentVectors.rfc7515ECPKCS8)))
    let key = try ProofKey(pkcs8: der)
    #expect(try key.publicJWK == JWK(json: Array(Vectors.rfc7515ECKey.utf8)))
    #expect(try key.exportPrivate() == der)
  }

  @Test func `coordinates that start with zeros keep their 32 bytes`() throws {
    let shortX = try ProofKey.ofScalar(IndependentVectors.scalarOfShortX)
    let ofShortX = try #require(shortX.coordinates)
    #expect(ofShortX.x.count == 32 && ofShortX.x[0] == 0 && ofShortX.y.count == 32)
    let shortY = try ProofKey.ofScalar(IndependentVectors.scalarOfShortY)
    let ofShortY = try #require(shortY.coordinates)
    #expect(ofShortY.y.count == 32 && ofShortY.y[0] == 0 && ofShortY.x.count == 32)
    for key in [shortX, shortY] {
      let proof = try JSONWebSignature(compact: ProofSigner(key: key).proof(ProofRequest()))
      #expect(proof.embeddedKey?.thumbprint == key.thumbprint)
      try proof.verify(with: key.publicJWK, algorithms: [.es256])
    }
  }

  @Test func `a private number of 0, of the group's order or above, or of another size is refused`() throws {
    let order: [UInt8] = [
      0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD, 0xA7,
      0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]
    let refused = [
      [UInt8](repeating: 0, count: 32), order, [UInt8](repeating: 0xFF, count: 32), [],
      [UInt8](repeating: 1, count: 31),
      [UInt8](repeating: 1, count: 33),
    ]
    for scalar in refused {
      #expect(throws: CryptographyError.self) { try ProofKey(scalar: Secret(scalar)) }
    }
    var last = order
    last[31] -= 1
    #expect(throws: Never.self) { try ProofKey(scalar: Secret(last)) }
  }

  @Test(arguments: [IndependentVectors.p384PKCS8, IndependentVectors.secp256k1PKCS8])
  func `a key of another curve is refused`(encoded: String) throws {
    let der = Secret(try #require(Base64.decode(encoded)))
    #expect(throws: CryptographyError.malformedKey(.notPrivateKey)) { try ProofKey(pkcs8: der) }
  }

  @Test func `a stored key that was cut, lengthened or altered is refused`() throws {
    let der = try #require(Base64.decode(IndependentVectors.rfc7515ECPKCS8))
    for count in 0..<der.count {
      #expect(throws: CryptographyError.self) { try ProofKey(pkcs8: Secret(der[..<count])) }
    }
    #expect(throws: CryptographyError.malformedKey(.notPrivateKey)) { try ProofKey(pkcs8: Secret(der + [0])) }
    let privateNumber = 36..<68
    let publicPoint = (der.count - 64)..<der.count
    for index in Array(privateNumber) + Array(publicPoint) {
      var altered = der
      altered[index] ^= 1
      #expect(throws: CryptographyError.self, "byte \(index)") { try ProofKey(pkcs8: Secret(altered)) }
    }
  }
}

extension ProofKey {
  var coordinates: (x: [UInt8], y: [UInt8])? {
    if case .p256(let x, let y) = publicJWK.material { (x, y) } else { nil }
  }

  static func ofScalar(_ number: Int) throws -> ProofKey {
    let low = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    return try ProofKey(scalar: Secret([UInt8](repeating: 0, count: 24) + low))
  }
}
