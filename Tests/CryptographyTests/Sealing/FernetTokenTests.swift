import Testing

@testable import Cryptography

/// The first token and its key are the specification's (generate.json); the others were made by Python's `cryptography`.
@Suite struct FernetTokenTests {
  static let specified =
    "gAAAAAAdwJ6wAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLLF_5CV9dOPmrhuVUPgJobwOz7JcbmrR64jVmpU4IwqDA=="
  private var key: Secret {
    get throws { Secret(try #require(Base64URL.decode("cw_0x689RpI-jtRR7oE8h_eQsKImvJapLeSbXpwF4e4"))) }
  }

  @Test(arguments: [
    (specified, "hello"),
    (
      "gAAAAABrDbAEkNl-lmJgc4Mg-kj7nNF_BHqWOb72bo4F3oZrKkqqcDBbCRMX7da3dAITbAevyfbzpTqPUqjeKIRzMN5jdEfQwqGWggS_ZjNW2ojFoHS56UbW2GOgSXC6wJXCnr9fWhOx",
      "a refresh token that is longer than one block"
    ),
    ("gAAAAABrDbAEpFmBmvX8mGS1u46N_VTO0PFlXGP40vINxhV50JE1SStKr09qmOPMVojF85lqWpMqwHLntC1WVGpbIiPBBzKK-Q==", ""),
  ])
  func `a token of another program opens`(token: String, text: String) throws {
    #expect(try FernetToken.open(token, key: key).revealedString() == text)
  }

  @Test(arguments: [
    // Authentic, and the padding is wrong.
    "gAAAAAAAAAAAAAECAwQFBgcICQoLDA0OD5hObFtf-N8HOyQzLaDG-dX7v54igE2EY6CviTQYb0ulFpZOLuuO5FC2jX5oIexc8A==",
    // Authentic, and not whole blocks; then none; then another version.
    "gAAAAAAAAAAAAAECAwQFBgcICQoLDA0OD9O-hSSAA1cDYH_uVfvb_q2c9fQ4JjEors4CDAjKOJMVfpRvbPHGW5NWNUPxKERi",
    "gAAAAAAAAAAAAAECAwQFBgcICQoLDA0OD4V8VL_RiCYfTOlX_BniXrMmJvZWCkiRNGriEl3nV-5P",
    "gQAAAAAAAAAAAAECAwQFBgcICQoLDA0ODy021cpGVWKZ_eEwCGM4BLI6l-JFbMql6Ea3MDg3oqCEpS2jug7SFqBHW5m3v45Qww==",
    "", "====", "gAAA", "%%%%%%%%%%%%", String(specified.dropLast()), String(specified.dropLast(2)), specified + "\n",
  ])
  func `what is not such a token does not`(token: String) throws {
    #expect(throws: CryptographyError.sealBroken) { try FernetToken.open(token, key: key) }
  }

  @Test func `nor does one with a changed bit, or with another key`() throws {
    let bytes = try #require(Base64URL.decode(Self.specified.dropLast(2)))
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1 << UInt8(index % 8)
      #expect(throws: CryptographyError.sealBroken) {
        try FernetToken.open(Base64URL.encode(changed) + "==", key: key)
      }
    }
    for other in [Secret(randomBytes: 32), Secret(randomBytes: 31), Secret([])] {
      #expect(throws: CryptographyError.sealBroken) { try FernetToken.open(Self.specified, key: other) }
    }
  }
}
