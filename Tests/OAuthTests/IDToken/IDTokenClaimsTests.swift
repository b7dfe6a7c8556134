import Cryptography
import HTTPWire
import OAuth
import Testing

struct IDTokenClaimsTests {
  private static let required =
    #""iss":"https://id.example.com","sub":"u1","aud":"c","exp":1800003600,"iat":1800000000"#

  private func parse(_ claims: String) throws(IDTokenDefect) -> IDTokenClaims {
    try IDTokenClaims(parsing: Secret(utf8: "e30.\(Base64URL.encode("{\(claims)}".utf8)).c2ln"))
  }

  private func parse(more claims: String) throws(IDTokenDefect) -> IDTokenClaims {
    try parse("\(Self.required),\(claims)")
  }

  @Test func `the claims of an ID token are read`() throws {
    let claims = try parse(
      more:
        #""name":"Ö","preferred_username":"o","email":"o@example.com","picture":"https://p/","auth_time":1799999999"#)
    #expect(claims.issuer == "https://id.example.com")
    #expect(claims.subject == "u1")
    #expect(claims.audiences == ["c"])
    #expect(claims.expiresAtUnixSeconds == 1_800_003_600)
    #expect(claims.issuedAtUnixSeconds == 1_800_000_000)
    #expect(claims.authenticatedAtUnixSeconds == 1_799_999_999)
    #expect(claims.name == "Ö")
    #expect(claims.preferredUsername == "o")
    #expect(claims.email == "o@example.com")
    #expect(claims.picture == "https://p/")
    #expect(claims.sessionExpiresAtUnixSeconds == nil)
  }

  @Test func `what need not be there may be absent, empty, too long or of another kind`() throws {
    let long = String(repeating: "x", count: IDTokenClaims.textBytesMax + 1)
    let claims = try parse(
      more: #""name":null,"preferred_username":"","email":["a"],"picture":"\#(long)","auth_time":"1""#)
    #expect(try claims == parse(Self.required))
    #expect(claims.name == nil && claims.picture == nil && claims.authenticatedAtUnixSeconds == nil)
  }

  @Test(arguments: ["iss", "sub", "aud", "exp", "iat"])
  func `OpenID Connect Core §2 what each ID token has must be there`(name: String) {
    for value in ["null", "true", #""""#, "{}", "-1"] {
      let claims = Self.required.replacing(#""\#(name)""#, with: #""\#(name)":\#(value),"x-\#(name)""#)
      #expect(throws: IDTokenDefect.claimMissing(name)) { try parse(claims) }
    }
    #expect(throws: IDTokenDefect.claimMissing(name)) {
      try parse(Self.required.replacing(#""\#(name)""#, with: #""x-\#(name)""#))
    }
  }

  @Test(arguments: [(#"["c","d"]"#, ["c", "d"]), ("[]", nil), (#"["c",1]"#, nil)] as [(String, [String]?)])
  func `the audience is one or several`(value: String, expected: [String]?) throws {
    let claims = Self.required.replacing(#""aud":"c""#, with: #""aud":\#(value)"#)
    if let expected {
      #expect(try parse(claims).audiences == expected)
    } else {
      #expect(throws: IDTokenDefect.claimMissing("aud")) { try parse(claims) }
    }
  }

  @Test(
    arguments: [
      ("1800000000", 1_800_000_000), ("1800000000.9", 1_800_000_000), ("1.8e9", 1_800_000_000), ("1", 1),
      ("9999999999", 9_999_999_999), ("9999999999.5", 9_999_999_999), ("10000000000", nil), ("1800000000000", nil),
      ("0", nil), ("-1", nil), (#""1800000000""#, nil), ("true", nil), ("null", nil), ("[1]", nil), ("1e999", nil),
    ] as [(String, Int64?)])
  func `the end of a session is in seconds, and anything else is ignored`(value: String, expected: Int64?) throws {
    #expect(try parse(more: #""session_expiry":\#(value)"#).sessionExpiresAtUnixSeconds == expected)
  }

  @Test(
    arguments: [
      ("", .notJWT), ("e30.e30", .notJWT), ("e30.e30.c2ln.e30.e30", .notJWT), ("e30.!.c2ln", .notJWT),
      ("e30..c2ln", .claimsNotJSON), ("e30.W10.c2ln", .claimsNotJSON), ("e30.bm8.c2ln", .claimsNotJSON),
      (String(repeating: "a", count: TokenResponse.idTokenBytesMax + 1), .tooLong),
    ] as [(String, IDTokenDefect)])
  func `what is no ID token is refused`(text: String, defect: IDTokenDefect) {
    #expect(throws: defect) { try IDTokenClaims(parsing: Secret(utf8: text)) }
  }
}
