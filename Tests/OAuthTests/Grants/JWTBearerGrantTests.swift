import Cryptography
import OAuth
import Testing

struct JWTBearerGrantTests {
  @Test func `RFC 7523 §2.1 the assertion is a parameter of the form`() throws {
    let grant = JWTBearerGrant(assertion: .given(Secret(utf8: "e30.e30.c2ln")), target: GrantTarget(scope: "read"))
    #expect(
      try grant.sentForm() == [
        "grant_type": ["urn:ietf:params:oauth:grant-type:jwt-bearer"], "assertion": ["e30.e30.c2ln"],
        "scope": ["read"], "client_id": ["c"],
      ])
  }
}
