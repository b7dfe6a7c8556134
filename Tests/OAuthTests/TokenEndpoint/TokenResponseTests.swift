import Cryptography
import HTTPWire
import OAuth
import Testing

struct TokenResponseTests {
  let key = ProofKey.generate()
  var dpop: TokenBinding { .dpop(key: key, allowBearer: false) }

  private func judge(_ body: String, status: Int = 200, _ binding: TokenBinding) throws(OAuthError) -> TokenResponse {
    try ClientCredentialsGrant().judge(HTTPResponse(status, body), binding: binding)
  }

  private func body(type: String? = "DPoP", token: String = "abc", expires: String? = "3600") -> String {
    var members = [#""access_token":"\#(token)""#]
    if let type { members.append(#""token_type":"\#(type)""#) }
    if let expires { members.append(#""expires_in":\#(expires)"#) }
    return "{\(members.joined(separator: ","))}"
  }

  @Test(arguments: ["dpop", "DPOP", "DPoP"])
  func `C50 DPoP in any case is DPoP`(type: String) throws {
    let response = try judge(body(type: type), dpop)
    #expect(response.tokenType == .dpop)
    #expect(response.tokenType.scheme == "DPoP")
  }

  @Test(arguments: ["bearer", "Bearer", "BEARER"])
  func `C49 bearer in any case is Bearer`(type: String) throws {
    #expect(try judge(body(type: type), .bearer).tokenType.scheme == "Bearer")
  }

  @Test(arguments: ["bearer", "Bearer", "N_A", "mac", "", nil])
  func `C51 another type than DPoP fails closed`(type: String?) {
    let received = TokenType(type ?? "Bearer")
    #expect(throws: OAuthError.tokenTypeMismatch(wanted: .dpop, received: received)) {
      try judge(body(type: type), dpop)
    }
  }

  @Test(arguments: ["bearer", "Bearer", nil])
  func `with allow_bearer a bearer token is taken for what it is`(type: String?) throws {
    #expect(try judge(body(type: type), .dpop(key: key, allowBearer: true)).tokenType == .bearer)
  }

  @Test func `allow_bearer allows nothing else`() {
    #expect(throws: OAuthError.tokenTypeMismatch(wanted: .dpop, received: TokenType("N_A"))) {
      try judge(body(type: "N_A"), .dpop(key: key, allowBearer: true))
    }
  }

  @Test(arguments: ["DPoP", "N_A", "mac"])
  func `a type that was not asked for is refused with Bearer, too`(type: String) {
    #expect(throws: OAuthError.tokenTypeMismatch(wanted: .bearer, received: TokenType(type))) {
      try judge(body(type: type), .bearer)
    }
  }

  @Test func `a missing token_type is Bearer where Bearer is wanted`() throws {
    #expect(try judge(body(type: nil), .bearer).tokenType == .bearer)
  }

  @Test(
    arguments: [
      ("3600", 3600), ("\"3600\"", 3600), ("0", 0), ("-5", 0), ("3599.9", 3599), ("1e3", 1000),
      ("99999999999999", Int64(Int32.max)), ("null", nil), ("\"soon\"", nil), ("\"\"", nil), ("true", nil),
      ("[1]", nil),
      (nil, nil),
    ] as [(String?, Int64?)])
  func `expires_in is a number or a numeric string, and anything else is unknown`(
    text: String?, expected: Int64?
  ) throws {
    #expect(try judge(body(expires: text), dpop).expiresInSeconds == expected)
  }

  @Test(arguments: ["a b", "a,b", "a\\nb", "ä", "=", "a=b"])
  func `A1.14 a DPoP token is token68`(token: String) {
    #expect(throws: OAuthError.tokenNotSendable) { try judge(body(token: token), dpop) }
  }

  @Test(arguments: ["abc", "a-._~+/09==", "eyJhbGciOiJub25lIn0.e30."])
  func `every token68 is taken`(token: String) throws {
    #expect(try judge(body(token: token), dpop).accessToken == Secret(utf8: token))
  }

  @Test(arguments: ["a b", "a\\r\\nX-Evil: 1", "ä"])
  func `a bearer token that would break a header field is refused`(token: String) {
    #expect(throws: OAuthError.tokenNotSendable) { try judge(body(type: "Bearer", token: token), .bearer) }
  }

  @Test func `a JWT bound to our key is taken and one bound to another is refused`() throws {
    func token(_ jkt: String) -> String {
      "e30.\(Base64URL.encode(#"{"sub":"s","cnf":{"jkt":"\#(jkt)"}}"#.utf8)).c2ln"
    }
    _ = try judge(body(token: token(key.thumbprint)), dpop)
    #expect(throws: OAuthError.boundToAnotherKey) {
      try judge(body(token: token(ProofKey.generate().thumbprint)), dpop)
    }
  }

  @Test(arguments: ["e30.e30.c2ln", "e30.bm90IGpzb24.c2ln", "a.b", "....", "e30.eyJjbmYiOm51bGx9.c2ln"])
  func `a token that says nothing of a key is opaque`(token: String) throws {
    _ = try judge(body(token: token), dpop)
  }

  @Test(
    arguments: [
      ("", .notJSON), ("<html>", .notJSON), ("[]", .notJSON), ("\"abc\"", .notJSON), ("{}", .accessTokenMissing),
      (#"{"access_token":null}"#, .accessTokenMissing), (#"{"access_token":""}"#, .accessTokenMissing),
      (#"{"access_token":["a"]}"#, .accessTokenMissing),
    ] as [(String, AnswerDefect)])
  func `a success without a token is a malformed answer`(body: String, defect: AnswerDefect) {
    #expect(throws: OAuthError.malformedAnswer(defect)) { try judge(body, dpop) }
  }

  @Test func `a token beyond the limit is refused`() {
    let token = String(repeating: "a", count: TokenResponse.accessTokenBytesMax + 1)
    #expect(throws: OAuthError.malformedAnswer(.accessTokenTooLong)) { try judge(body(token: token), dpop) }
  }

  @Test func `nulls are absent members`() throws {
    let response = try judge(
      #"{"access_token":"t","token_type":"DPoP","expires_in":null,"scope":null,"error":null}"#, dpop)
    #expect(response.scope == nil)
    #expect(response.expiresInSeconds == nil)
  }
}

struct EndpointErrorTests {
  private func endpointError(_ status: Int, _ body: String, _ fields: [(String, String)] = []) -> EndpointError? {
    do throws(OAuthError) {
      _ = try TokenResponse(judging: HTTPResponse(status, body, fields), binding: .bearer)
      return nil
    } catch {
      if case .endpoint(let error) = error { return error }
      return nil
    }
  }

  @Test(
    arguments: [
      (400, #"{"error":"invalid_client"}"#, "invalid_client", false),
      (401, #"{"error":"invalid_client","error_description":"no"}"#, "invalid_client", false),
      (400, #"{"error":"invalid_target"}"#, "invalid_target", false),
      (400, #"{"error":"temporarily_unavailable"}"#, "temporarily_unavailable", true),
      (200, #"{"error":"bad_verification_code"}"#, "bad_verification_code", false), (403, "", nil, false),
      (404, "<html>", nil, false), (302, "", nil, false), (408, "", nil, true), (429, "", nil, true),
      (500, "x", nil, true),
      (503, #"{"error":"server_error"}"#, "server_error", true), (400, #"{"error":"a b"}"#, nil, false),
      (400, #"{"error":{"code":"x"}}"#, nil, false),
    ] as [(Int, String, String?, Bool)])
  func `errors tell mistakes from what passes by itself`(
    status: Int, body: String, code: String?, isTransient: Bool
  ) throws {
    let error = try #require(endpointError(status, body))
    #expect(error.code == code)
    #expect(error.isTransient == isTransient)
  }

  @Test(
    arguments: [
      ("120", .seconds(120)), ("0", .zero), ("Mon, 01 Jan 2024 00:02:00 GMT", .seconds(120)),
      ("Sun, 31 Dec 2023 23:00:00 GMT", .zero), ("-1", nil), ("soon", nil), ("", nil),
      ("999999999999999999999", .seconds(Int64(Int32.max))),
    ] as [(String, Duration?)])
  func `Retry-After is seconds or a date`(text: String, expected: Duration?) throws {
    let error = try #require(
      endpointError(503, "", [("Retry-After", text), ("Date", "Mon, 01 Jan 2024 00:00:00 GMT")]))
    #expect(error.retryAfter == expected)
  }

  @Test func `C85 what a server writes does not print by accident`() throws {
    let error = try #require(endpointError(400, #"{"error":"invalid_client","error_description":"sentinel"}"#))
    #expect(!"\(error) \(String(reflecting: error)) \(OAuthError.endpoint(error))".contains("sentinel"))
    #expect(error.serverText?.shown(hiding: []) == "sentinel")
  }
}

struct UntrustedTextTests {
  @Test func `a secret that a server repeats is masked wherever it is`() {
    let text = UntrustedText("client secret s3cr3t-value is wrong (s3cr3t-value)")
    #expect(text.shown(hiding: [Secret(utf8: "s3cr3t-value")]) == "client secret […] is wrong ([…])")
  }

  @Test func `what is too long for a word is masked`() {
    #expect(UntrustedText("bad eyJhbGciOiJFUzI1NiJ9.e30.c2lnbmF0dXJl token").shown(hiding: []) == "bad […] token")
  }

  @Test func `control characters and foreign letters can't forge lines`() {
    #expect(UntrustedText("a\r\nb\u{1B}[31mc\u{1}é").shown(hiding: []) == "a??b?[31mc??")
  }

  @Test func `a long text is cut`() {
    let text = UntrustedText(String(repeating: "ab ", count: 1_000)).shown(hiding: [])
    #expect(text.utf8.count == UntrustedText.charactersMax)
  }
}
