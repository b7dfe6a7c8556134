import Cryptography
import HTTPWire
import OAuth
import Testing

struct RefreshTokenGrantTests {
  @Test func `a refresh sends its token and no scope unless there is one`() throws {
    let form = try RefreshTokenGrant(refreshToken: Secret(utf8: "rt+1/=")).sentForm()
    #expect(form == ["grant_type": ["refresh_token"], "refresh_token": ["rt+1/="], "client_id": ["c"]])
  }

  @Test func `a refresh for another API names its audience, resource and scope`() throws {
    let target = GrantTarget(
      scope: "openid read", audience: "orders", resources: ["https://a.example/"], parameters: [("organization", "o")])
    let form = try RefreshTokenGrant(refreshToken: Secret(utf8: "r"), target: target).sentForm()
    #expect(
      form == [
        "grant_type": ["refresh_token"], "refresh_token": ["r"], "scope": ["openid read"], "audience": ["orders"],
        "resource": ["https://a.example/"], "organization": ["o"], "client_id": ["c"],
      ])
  }

  @Test func `an answer without a refresh token has none to put in the place of the old one`() throws {
    let grant = RefreshTokenGrant(refreshToken: Secret(utf8: "r"))
    let response = HTTPResponse(200, #"{"access_token":"t","token_type":"Bearer"}"#)
    #expect(try grant.judge(response, binding: .bearer).refreshToken == nil)
  }
}
