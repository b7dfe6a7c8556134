import Testing

@testable import Cryptography

@Suite struct ProofSignerTests {
  let key = ProofKey.generate()
  static let ath = "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"

  private func members(_ json: [UInt8]) throws -> [String: JSONTree] { try #require(JSONReader.object(json)) }

  @Test func `a proof verifies with the key it carries`() throws {
    let proof = try JSONWebSignature(compact: ProofSigner(key: key).proof(ProofRequest()))
    #expect(proof.embeddedKey == key.publicJWK)
    try proof.verify(with: key.publicJWK, algorithms: [.es256])
  }

  @Test func `the header holds typ, alg and jwk and the claims only what was asked for`() throws {
    let signer = ProofSigner(key: key)
    let always: Set = ["jti", "htm", "htu", "iat"]
    for (ath, nonce, claims) in [
      ("", "", always), (Self.ath, "", always.union(["ath"])), ("", "n-1", always.union(["nonce"])),
      (Self.ath, "n-1", always.union(["ath", "nonce"])),
    ] {
      let proof = try JSONWebSignature(compact: signer.proof(ProofRequest(ath: ath, nonce: nonce)))
      let header = try members(proof.header)
      #expect(Set(header.keys) == ["typ", "alg", "jwk"])
      #expect(header["typ"] == .string("dpop+jwt") && header["alg"] == .string("ES256"))
      #expect(try header["jwk"] == .object(members(Array(key.publicJWK.json.utf8))))
      let payload = try members(proof.payload)
      #expect(Set(payload.keys) == claims)
      #expect(payload["htm"] == .string("GET") && payload["htu"] == .string("https://api.example.com/v1/orders"))
      #expect(payload["iat"] == .number("1700000000"))
      #expect(payload["ath"] == (ath.isEmpty ? nil : .string(ath)))
      #expect(payload["nonce"] == (nonce.isEmpty ? nil : .string(nonce)))
    }
  }

  @Test func `the jwk has the members of a public key and no other`() throws {
    let proof = try JSONWebSignature(compact: ProofSigner(key: key).proof(ProofRequest()))
    #expect(try members(proof.header)["jwk"]?.memberNames == ["kty", "crv", "x", "y"])
  }

  @Test func `no proof holds the private number in any form`() throws {
    let number = try #require(Base64URL.decode(Vectors.rfc7515ECScalar))
    let signer = ProofSigner(key: try ProofKey(scalar: Secret(number)))
    for _ in 0..<200 {
      let compact = try signer.proof(ProofRequest(ath: Self.ath, nonce: "n"))
      let proof = try JSONWebSignature(compact: compact)
      let shown = [Array(compact.utf8), proof.header, proof.payload, proof.signature]
      for bytes in shown {
        #expect(!bytes.contains(number))
        #expect(!bytes.contains(Array(Vectors.rfc7515ECScalar.utf8)))
      }
    }
  }

  @Test func `5,000 signatures are 64 raw bytes each, short numbers included`() throws {
    let signer = ProofSigner(key: key)
    var shortNumbers = 0
    for _ in 0..<5_000 {
      let proof = try JSONWebSignature(compact: signer.proof(ProofRequest()))
      #expect(proof.signature.count == 64)
      try proof.verify(with: key.publicJWK, algorithms: [.es256])
      if proof.signature[0] == 0 || proof.signature[32] == 0 { shortNumbers += 1 }
    }
    // About 39 are to be expected; none at all has a chance of 1 in 10¹⁶.
    #expect(shortNumbers > 0)
  }

  @Test func `10,000 proofs have 10,000 values of jti, 128 bits each`() throws {
    let signer = ProofSigner(key: key)
    var seen: Set<String> = []
    for _ in 0..<10_000 {
      let proof = try JSONWebSignature(compact: signer.proof(ProofRequest()))
      let jti = try #require(members(proof.payload)["jti"]?.text)
      #expect(Base64URL.decode(jti)?.count == 16)
      seen.insert(jti)
    }
    #expect(seen.count == 10_000)
  }

  @Test(arguments: ["GET", "PATCH", "QUERY", "get", "M-SEARCH", "a", "!#$%&'*+-.^_`|~09"])
  func `a method is written as it is`(htm: String) throws {
    let proof = try JSONWebSignature(compact: ProofSigner(key: key).proof(ProofRequest(htm: htm)))
    #expect(try members(proof.payload)["htm"] == .string(htm))
  }

  @Test(arguments: [
    "https://api.example.com/", "https://[2001:db8::1]:8443/a//b/", "https://h/%7Euser/%c3%a9;p=1,2",
    #"https://h/a"b\c"#, #"https://h/\u0041"#, #"https://h/","iat":0,"x":""#, "https://h/{}|^`<>", "http://h:8080/*",
  ])
  func `a URL is read back as it is, whatever stands in its path`(htu: String) throws {
    let proof = try JSONWebSignature(compact: ProofSigner(key: key).proof(ProofRequest(htu: htu)))
    #expect(try members(proof.payload)["htu"] == .string(htu))
    #expect(try members(proof.payload).count == 4)
  }

  @Test func `values that can't stand in a proof are refused`() {
    let refused: [(ProofClaim, [ProofRequest])] = [
      (.htm, ["", "GET ", "G\"T", "G\\T", "G\nT", "GÉT", "G/T", "\u{7F}"].map { ProofRequest(htm: $0) }),
      (
        .htu,
        ["", "https://h/?q", "https://h/#f", "https://h/ ", "https://h/\n", "https://h/é", "https://h/\u{7F}"].map {
          ProofRequest(htu: $0)
        }
      ),
      (.iat, [ProofRequest(issuedAtUnixSeconds: -1), ProofRequest(issuedAtUnixSeconds: .min)]),
      (.ath, ["x", Self.ath + "=", Self.ath.replacing("f", with: "+"), Self.ath + "A"].map { ProofRequest(ath: $0) }),
      (.nonce, ["a b", "a\"b", "a\\b", "a\u{7F}", "é", "a\r\nb", "\u{0}"].map { ProofRequest(nonce: $0) }),
    ]
    let signer = ProofSigner(key: key)
    for (claim, requests) in refused {
      for request in requests {
        #expect(throws: CryptographyError.unwritableClaim(claim), "\(request)") { try signer.proof(request) }
      }
    }
  }

  @Test func `a signer goes on after a refusal`() throws {
    let signer = ProofSigner(key: key)
    #expect(throws: CryptographyError.self) { try signer.proof(ProofRequest(nonce: " ")) }
    #expect(throws: CryptographyError.bufferTooSmall) { try signer.proof(ProofRequest(), capacity: 0) }
    try JSONWebSignature(compact: signer.proof(ProofRequest())).verify(with: key.publicJWK, algorithms: [.es256])
  }

  @Test(arguments: [0, 9, 10, 1_700_000_000, 9_999_999_999, Int64.max])
  func `the time is written as an integer`(seconds: Int64) throws {
    let proof = try JSONWebSignature(compact: ProofSigner(key: key).proof(ProofRequest(issuedAtUnixSeconds: seconds)))
    #expect(try members(proof.payload)["iat"] == .number(String(seconds)))
  }

  @Test func `a buffer one byte short is refused at any size and the exact one suffices`() throws {
    let signer = ProofSigner(key: key)
    let request = ProofRequest(ath: Self.ath, nonce: "n")
    let count = try signer.proof(request).utf8.count
    for capacity in 0..<count {
      #expect(throws: CryptographyError.bufferTooSmall) { try signer.proof(request, capacity: capacity) }
    }
    #expect(try signer.proof(request, capacity: count).utf8.count == count)
  }

  @Test func `the bound holds for the largest claims and is exact for them`() throws {
    let htu = String(repeating: "\"", count: 30_000)
    let nonce = String(repeating: "n", count: 4_000)
    let request = ProofRequest(htm: "GET", htu: htu, ath: Self.ath, nonce: nonce, issuedAtUnixSeconds: .max)
    let bound = ProofSigner.proofBytesMax(htmBytes: 3, htuBytes: 30_000, nonceBytes: 4_000)
    let compact = try ProofSigner(key: key).proof(request)
    #expect(compact.utf8.count == bound)
    let proof = try JSONWebSignature(compact: "\(compact.prefix { $0 != "." }).e30.AAAA")
    #expect(proof.embeddedKey == key.publicJWK)
  }

  @Test func `proofs of several signers of one key do not disturb one another`() async throws {
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          let signer = ProofSigner(key: key)
          for _ in 0..<200 {
            try JSONWebSignature(compact: signer.proof(ProofRequest())).verify(
              with: key.publicJWK, algorithms: [.es256])
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

extension JSONTree {
  var memberNames: Set<String>? {
    if case .object(let members) = self { Set(members.keys) } else { nil }
  }
}
