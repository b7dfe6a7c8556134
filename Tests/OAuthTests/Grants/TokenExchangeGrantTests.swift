import Cryptography
import HTTPWire
import OAuth
import Testing

struct TokenExchangeGrantTests {
  private let idToken = "urn:ietf:params:oauth:token-type:id_token"

  @Test func `RFC 8693 §2.1 the subject is an access token unless it is said to be another`() throws {
    let form = try TokenExchangeGrant(subject: .init(Secret(utf8: "s"))).sentForm()
    #expect(
      form == [
        "grant_type": ["urn:ietf:params:oauth:grant-type:token-exchange"], "subject_token": ["s"],
        "subject_token_type": ["urn:ietf:params:oauth:token-type:access_token"], "client_id": ["c"],
      ])
  }

  @Test func `RFC 8693 §2.1 the actor goes with its type`() throws {
    let grant = TokenExchangeGrant(
      subject: .init(Secret(utf8: "s"), type: idToken), actor: .init(Secret(utf8: "a"), type: "urn:x-oath:secret"),
      requestedTokenType: idToken,
      target: GrantTarget(scope: "read", audience: "orders", resources: ["https://a.example/"]))
    #expect(
      try grant.sentForm() == [
        "grant_type": ["urn:ietf:params:oauth:grant-type:token-exchange"], "subject_token": ["s"],
        "subject_token_type": [idToken], "actor_token": ["a"], "actor_token_type": ["urn:x-oath:secret"],
        "requested_token_type": [idToken], "scope": ["read"], "audience": ["orders"],
        "resource": ["https://a.example/"], "client_id": ["c"],
      ])
  }

  @Test func `RFC 8693 §2.2.1 what is no access token is taken only if it was asked for`() throws {
    let grant = TokenExchangeGrant(subject: .init(Secret(utf8: "s")), requestedTokenType: idToken)
    let response = HTTPResponse(
      200, #"{"access_token":"e30.e30.c2ln","token_type":"n_a","issued_token_type":"\#(idToken)"}"#)
    #expect(throws: OAuthError.tokenTypeMismatch(wanted: .bearer, received: .notApplicable)) {
      try grant.judge(response, binding: .bearer)
    }
    let judged = try grant.judge(response, binding: .bearer, allowsNotApplicable: true)
    #expect(judged.tokenType == .notApplicable)
    #expect(judged.tokenType.scheme == nil)
    #expect(judged.issuedTokenType == idToken)
  }

  @Test func `who allows that something is no access token takes an access token all the same`() throws {
    let grant = TokenExchangeGrant(subject: .init(Secret(utf8: "s")))
    let response = HTTPResponse(200, #"{"access_token":"t","token_type":"Bearer"}"#)
    #expect(try grant.judge(response, binding: .bearer, allowsNotApplicable: true).tokenType == .bearer)
    #expect(throws: OAuthError.tokenTypeMismatch(wanted: .dpop, received: .bearer)) {
      try grant.judge(
        response, binding: .dpop(key: ProofKey.generate(), allowBearer: false), allowsNotApplicable: true)
    }
  }

  @Test func `a token that would break a line is refused whatever its type`() {
    let response = HTTPResponse(200, #"{"access_token":"a\r\nb","token_type":"N_A"}"#)
    #expect(throws: OAuthError.tokenNotSendable) {
      try TokenResponse(judging: response, binding: .bearer, allowsNotApplicable: true)
    }
  }
}
