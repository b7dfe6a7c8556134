import Testing

@testable import Cryptography

@Suite struct JSONWebSignatureTests {
  let key = ProofKey.generate()

  private func sign(header: String, payload: String = #"{"sub":"a"}"#) throws -> String {
    try JSONWebSignature.sign(header: Array(header.utf8), payload: Array(payload.utf8), key: key)
  }

  private func refuses(_ error: CryptographyError, _ compact: String, _ location: SourceLocation = #_sourceLocation) {
    #expect(throws: error, sourceLocation: location) { try JSONWebSignature(compact: compact) }
  }

  @Test func `a signed token says what it was given and verifies`() throws {
    let payload = Array(#"{"iss":"https://id.example.com"}"#.utf8)
    let compact = try JSONWebSignature.sign(payload: payload, type: "at+jwt", keyID: "k\"1", key: key)
    let token = try JSONWebSignature(compact: compact)
    #expect(String(decoding: token.header, as: UTF8.self) == #"{"alg":"ES256","typ":"at+jwt","kid":"k\"1"}"#)
    #expect(token.type == "at+jwt" && token.keyID == "k\"1" && token.embeddedKey == nil)
    #expect(token.payload == payload && token.signature.count == 64)
    try token.verify(with: key.publicJWK, algorithms: [.es256])
  }

  @Test func `a token of another key does not verify`() throws {
    let token = try JSONWebSignature(compact: sign(header: #"{"alg":"ES256"}"#))
    #expect(throws: CryptographyError.signatureMismatch) {
      try token.verify(with: ProofKey.generate().publicJWK, algorithms: [.es256])
    }
  }

  @Test func `a token with any one character changed is refused`() throws {
    let compact = Array(try sign(header: #"{"alg":"ES256","typ":"JWT"}"#).utf8)
    for index in compact.indices {
      for replacement in [UInt8(ascii: "A"), UInt8(ascii: "_"), UInt8(ascii: "9")] where compact[index] != replacement {
        var altered = compact
        altered[index] = replacement
        #expect(throws: CryptographyError.self, "character \(index)") {
          try JSONWebSignature(compact: altered).verify(with: key.publicJWK, algorithms: [.es256])
        }
      }
    }
  }

  @Test func `only three segments of unpadded base64url are a token`() throws {
    let compact = try sign(header: #"{"alg":"ES256"}"#)
    for text in ["", "a", "a.b", "\(compact).", "\(compact).e30", ".\(compact)", "...", "a.b.c.d.e"] {
      refuses(.malformedSignature(.segmentCount), text)
    }
    for text in ["\(compact)=", "\(compact)==", "\(compact) ", " \(compact)", "\(compact)\n", "e30=.e30.e30"] {
      refuses(.malformedSignature(.encoding), text)
    }
    refuses(.malformedSignature(.headerNotJSON), "..")
    refuses(.malformedSignature(.tooLarge), String(repeating: "A", count: JSONWebSignature.compactBytesMax + 1))
  }

  @Test func `an empty payload is a payload`() throws {
    let token = try JSONWebSignature(compact: sign(header: #"{"alg":"ES256"}"#, payload: ""))
    try token.verify(with: key.publicJWK, algorithms: [.es256])
    #expect(token.payload.isEmpty)
  }

  @Test(arguments: ["none", "None", "", "HS256", "HS384", "HS512", "es256", "ES256K", "ES384", "RS1", "dir"])
  func `algorithms without a public key, and those unknown, are refused`(name: String) throws {
    refuses(.algorithmRefused, try sign(header: #"{"alg":"\#(name)"}"#))
    refuses(.algorithmRefused, "\(Base64URL.encode(#"{"alg":"\#(name)"}"#.utf8)).e30.")
  }

  @Test func `a MAC keyed with the public key is no signature`() throws {
    // The classic confusion: HS256 with the bytes of the published key as the shared secret.
    let input = "\(Base64URL.encode(#"{"alg":"HS256"}"#.utf8)).\(Base64URL.encode(#"{"sub":"admin"}"#.utf8))"
    let code = Array(input.utf8).withUnsafeBytes {
      HMACSHA256.authenticate($0, key: Secret(utf8: key.publicJWK.json))
    }
    refuses(.algorithmRefused, "\(input).\(Base64URL.encode(code))")
  }

  @Test func `an algorithm outside the caller's list is refused though the signature is right`() throws {
    let token = try JSONWebSignature(compact: sign(header: #"{"alg":"ES256"}"#))
    for algorithms: Set<JWSAlgorithm> in [[], [.rs256], [.ps256, .rs256, .edDSA]] {
      #expect(throws: CryptographyError.algorithmRefused) {
        try token.verify(with: key.publicJWK, algorithms: algorithms)
      }
    }
  }

  @Test func `an algorithm must fit the key's type`() throws {
    let rsa = try JWK(json: Array(Vectors.rfc7515RSAKey.utf8))
    let ed25519 = try JWK(json: Array(Vectors.rfc8037Key.utf8))
    let pairs: [(String, [JWK])] = [
      (try sign(header: #"{"alg":"ES256"}"#), [rsa, ed25519]), (Vectors.rfc7515RS256, [key.publicJWK, ed25519]),
      (Vectors.rfc8037Signature, [key.publicJWK, rsa]), (IndependentVectors.ps256, [key.publicJWK, ed25519]),
    ]
    for (compact, keys) in pairs {
      for key in keys {
        #expect(throws: CryptographyError.algorithmRefused) {
          try JSONWebSignature(compact: compact).verify(with: key, algorithms: Set(JWSAlgorithm.allCases))
        }
      }
    }
  }

  @Test func `a PKCS #1 signature is not taken for PSS, nor the other way round`() throws {
    func relabelled(_ compact: String, _ name: String) -> String {
      let rest = compact.drop { $0 != "." }
      return Base64URL.encode(#"{"alg":"\#(name)"}"#.utf8) + rest
    }
    let rsa = try JWK(json: Array(Vectors.rfc7515RSAKey.utf8))
    let pss = try JWK(json: Array(IndependentVectors.ps256Key.utf8))
    for (compact, key) in [
      (relabelled(Vectors.rfc7515RS256, "PS256"), rsa), (relabelled(IndependentVectors.ps256, "RS256"), pss),
    ] {
      #expect(throws: CryptographyError.signatureMismatch) {
        try JSONWebSignature(compact: compact).verify(with: key, algorithms: [.rs256, .ps256])
      }
    }
  }

  @Test func `PS256 verifies with a salt as long as the hash and no other`() throws {
    let pss = try JWK(json: Array(IndependentVectors.ps256Key.utf8))
    try JSONWebSignature(compact: IndependentVectors.ps256).verify(with: pss, algorithms: [.ps256])
    #expect(throws: CryptographyError.signatureMismatch) {
      try JSONWebSignature(compact: IndependentVectors.ps256ShortSalt).verify(with: pss, algorithms: [.ps256])
    }
  }

  @Test func `a signature in DER, cut or lengthened is refused by its size`() throws {
    let compact = try sign(header: #"{"alg":"ES256"}"#)
    let input = compact.split(separator: ".").dropLast().joined(separator: ".")
    let raw = try JSONWebSignature(compact: compact).signature
    for signature in [ES256Signature.der(raw: raw), Array(raw.dropLast()), raw + [0], [0] + raw, []] {
      #expect(throws: CryptographyError.malformedSignature(.signatureSize)) {
        try JSONWebSignature(compact: "\(input).\(Base64URL.encode(signature))")
          .verify(with: key.publicJWK, algorithms: [.es256])
      }
    }
  }

  @Test func `a signature of zeros, or of numbers out of range, does not verify`() throws {
    let input = "\(Base64URL.encode(#"{"alg":"ES256"}"#.utf8)).e30"
    for byte: UInt8 in [0x00, 0xFF] {
      let forged = "\(input).\(Base64URL.encode([UInt8](repeating: byte, count: 64)))"
      #expect(throws: CryptographyError.signatureMismatch) {
        try JSONWebSignature(compact: forged).verify(with: key.publicJWK, algorithms: [.es256])
      }
    }
  }

  @Test func `a header that can be read in two ways, or demands an extension, is refused`() throws {
    refuses(.malformedSignature(.headerNotJSON), try sign(header: #"{"alg":"ES256","alg":"none"}"#))
    refuses(.malformedSignature(.headerNotJSON), try sign(header: #"{"alg":"none","\u0061lg":"ES256"}"#))
    refuses(.malformedSignature(.headerNotJSON), try sign(header: #"["ES256"]"#))
    refuses(.malformedSignature(.headerNotJSON), try sign(header: #"{"alg":"ES256"} {}"#))
    refuses(.malformedSignature(.algorithmMissing), try sign(header: #"{"typ":"JWT"}"#))
    refuses(.malformedSignature(.headerMember), try sign(header: #"{"alg":["ES256"]}"#))
    refuses(.malformedSignature(.headerMember), try sign(header: #"{"alg":"ES256","typ":null}"#))
    refuses(.malformedSignature(.headerMember), try sign(header: #"{"alg":"ES256","kid":1}"#))
    refuses(.malformedSignature(.headerMember), try sign(header: #"{"alg":"ES256","jwk":"EC"}"#))
    refuses(.malformedSignature(.criticalExtension), try sign(header: #"{"alg":"ES256","crit":["b64"],"b64":false}"#))
    refuses(.malformedSignature(.criticalExtension), try sign(header: #"{"alg":"ES256","crit":[]}"#))
  }

  @Test func `an embedded key with its private half is refused`() throws {
    let leaky = key.publicJWK.json.dropLast() + #","d":"\#(Vectors.rfc7515ECScalar)"}"#
    refuses(.malformedKey(.privateMember), try sign(header: #"{"alg":"ES256","jwk":\#(leaky)}"#))
  }

  @Test func `errors tell the cause and nothing of the token`() throws {
    for error: CryptographyError in [
      .malformedSignature(.encoding), .malformedKey(.privateMember), .algorithmRefused, .signatureMismatch,
      .unwritableClaim(.nonce), .bufferTooSmall, .library(.sign, code: 0x1F),
    ] {
      #expect(!"\(error)".isEmpty)
    }
    #expect("\(CryptographyError.library(.sign, code: 0x1F))" == "OpenSSL failed to sign (error 0x1f)")
    #expect("\(CryptographyError.malformedKey(.notOnCurve))" == "not a usable key: its point is not on the curve")
  }
}
