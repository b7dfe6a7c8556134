import Cryptography
import OAuth
import Testing

struct ResourceOwnerPasswordGrantTests {
  @Test func `RFC 6749 §4.3.2 name and password are parameters of the form`() throws {
    let grant = ResourceOwnerPasswordGrant(
      username: "ö@example.com", password: Secret(utf8: "p&ss w=rd"), target: GrantTarget(audience: "orders"))
    #expect(
      try grant.sentForm() == [
        "grant_type": ["password"], "username": ["ö@example.com"], "password": ["p&ss w=rd"],
        "audience": ["orders"], "client_id": ["c"],
      ])
  }
}
