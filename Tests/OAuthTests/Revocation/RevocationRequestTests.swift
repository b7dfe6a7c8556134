import Cryptography
import HTTPWire
import OAuth
import Testing

struct RevocationRequestTests {
  private let revocation = RevocationRequest(token: Secret(utf8: "rt"), hint: .refreshToken)

  @Test func `RFC 7009 §2.1 the token goes with a hint, if there is one`() throws {
    let endpoint = try HTTPURL(parsing: "https://id.example.com/oauth/revoke")
    let request = try sent(revocation.request(endpoint: endpoint, authentication: .none(clientID: "c")))
    #expect(request.url == endpoint)
    #expect(request.form == ["token": ["rt"], "token_type_hint": ["refresh_token"], "client_id": ["c"]])
    let unhinted = RevocationRequest(token: Secret(utf8: "at"), hint: nil)
    #expect(
      try sent(unhinted.request(endpoint: endpoint, authentication: .none(clientID: "c"))).form == [
        "token": ["at"], "client_id": ["c"],
      ])
  }

  @Test(arguments: ["", "OK", "{}", "<html>", #"{"result":"ok"}"#])
  func `RFC 7009 §2.2 success is the status alone`(body: String) throws {
    #expect(try revocation.judge(HTTPResponse(200, body)) == .revoked)
  }

  @Test(arguments: [400, 503]) func `RFC 7009 §2.2.1 a server may not revoke such tokens`(status: Int) throws {
    let response = HTTPResponse(status, #"{"error":"unsupported_token_type"}"#)
    #expect(try revocation.judge(response) == .unsupportedTokenType)
  }

  @Test(
    arguments: [
      (400, #"{"error":"invalid_request"}"#, "invalid_request", false),
      (401, #"{"error":"invalid_client"}"#, "invalid_client", false),
      (200, #"{"error":"invalid_client"}"#, "invalid_client", false), (302, "", nil, false), (503, "", nil, true),
    ] as [(Int, String, String?, Bool)])
  func `any other answer leaves the token's fate open`(status: Int, body: String, code: String?, isTransient: Bool) {
    let expected = EndpointError(status: status, code: code)
    #expect(throws: OAuthError.endpoint(expected)) { try revocation.judge(HTTPResponse(status, body)) }
    #expect(expected.isTransient == isTransient)
  }
}
