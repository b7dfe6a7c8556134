import Cryptography
import HTTPWire
import OAuth
import Testing

/// What an answer holds beside the access token.
struct GrantAnswerTests {
  private func judge(_ members: String, token: String = "t") throws(OAuthError) -> TokenResponse {
    let body = #"{"access_token":"\#(token)","token_type":"Bearer"\#(members)}"#
    return try TokenResponse(judging: HTTPResponse(200, body), binding: .bearer)
  }

  private func jwt(_ claims: String) -> String { "e30.\(Base64URL.encode(claims.utf8)).c2ln" }

  @Test func `the other tokens of an answer are secrets`() throws {
    let answer = try judge(
      #","refresh_token":"sentinel-r","id_token":"e30.sentinel.i","issued_token_type":"urn:x","scope":"a b""#)
    #expect(answer.refreshToken == Secret(utf8: "sentinel-r"))
    #expect(answer.idToken == Secret(utf8: "e30.sentinel.i"))
    #expect(answer.issuedTokenType == "urn:x")
    #expect(answer.scope == "a b")
    #expect(!"\(answer) \(String(reflecting: answer))".contains("sentinel"))
  }

  @Test(arguments: [
    "", #","refresh_token":null,"id_token":null,"issued_token_type":null"#,
    #","refresh_token":"","id_token":"","issued_token_type":"""#,
    #","refresh_token":1,"id_token":["a"],"issued_token_type":{}"#,
    #","id_token":"a b","issued_token_type":"a\nb""#,
  ])
  func `what is absent, empty or of another kind is not there`(members: String) throws {
    let answer = try judge(members)
    #expect(answer.refreshToken == nil)
    #expect(answer.idToken == nil)
    #expect(answer.issuedTokenType == nil)
  }

  @Test func `each member has a limit`() throws {
    func text(_ count: Int) -> String { String(repeating: "a", count: count) }
    let refreshTokenMax = text(TokenResponse.refreshTokenBytesMax)
    #expect(try judge(#","refresh_token":"\#(refreshTokenMax)""#).refreshToken?.count == refreshTokenMax.count)
    #expect(throws: OAuthError.malformedAnswer(.refreshTokenTooLong)) {
      try judge(#","refresh_token":"\#(refreshTokenMax)a""#)
    }
    #expect(throws: OAuthError.malformedAnswer(.scopeTooLong)) {
      try judge(#","scope":"\#(text(TokenResponse.scopeBytesMax + 1))""#)
    }
    #expect(try judge(#","id_token":"\#(text(TokenResponse.idTokenBytesMax))""#).idToken != nil)
    #expect(try judge(#","id_token":"\#(text(TokenResponse.idTokenBytesMax + 1))""#).idToken == nil)
    #expect(try judge(#","issued_token_type":"\#(text(513))""#).issuedTokenType == nil)
  }

  @Test(
    arguments: [
      (#"{"aud":"orders"}"#, "orders", [], true), (#"{"aud":"orders"}"#, "billing", [], false),
      (#"{"aud":["users","orders"]}"#, "orders", [], true), (#"{"aud":["users"]}"#, "orders", [], false),
      (#"{"aud":[]}"#, "orders", [], false), (#"{"aud":"https://a.example/"}"#, nil, ["https://a.example/"], true),
      (#"{"aud":"https://a.example"}"#, nil, ["https://a.example/"], false),
      (#"{"aud":"https://b.example/"}"#, "orders", ["https://a.example/", "https://b.example/"], true),
      (#"{"aud":"orders"}"#, nil, [], nil), (#"{"sub":"s"}"#, "orders", [], nil), (#"{"aud":1}"#, "orders", [], nil),
      (#"{"aud":["orders",1]}"#, "orders", [], nil), ("[]", "orders", [], nil), ("not JSON", "orders", [], nil),
    ] as [(String, String?, [String], Bool?)])
  func `a JWT tells whether it is for the API that was asked for`(
    claims: String, audience: String?, resources: [String], expected: Bool?
  ) throws {
    #expect(try judge("", token: jwt(claims)).names(audience: audience, resources: resources) == expected)
  }

  @Test(arguments: ["t", "a.b", "a.b.c.d.e", "e30..c2ln", "e30.!.c2ln"])
  func `a token that is no JWT tells nothing of its audience`(token: String) throws {
    #expect(try judge("", token: token).names(audience: "orders", resources: []) == nil)
  }

  @Test func `the refresh token of an answer that is refused is not lost`() {
    let mismatch = HTTPResponse(200, #"{"access_token":"t","token_type":"mac","refresh_token":"r2"}"#)
    #expect(throws: OAuthError.self) { try TokenResponse(judging: mismatch, binding: .bearer) }
    #expect(TokenResponse.refreshToken(of: mismatch) == Secret(utf8: "r2"))
    #expect(TokenResponse.refreshToken(of: HTTPResponse(200, #"{"refresh_token":"r2"}"#)) == Secret(utf8: "r2"))
  }

  @Test(arguments: [
    (400, #"{"refresh_token":"r"}"#), (200, #"{"error":"x","refresh_token":"r"}"#), (200, "r"),
    (200, #"{"access_token":"t"}"#),
  ])
  func `no refresh token is read from what is no success`(status: Int, body: String) {
    #expect(TokenResponse.refreshToken(of: HTTPResponse(status, body)) == nil)
  }
}
