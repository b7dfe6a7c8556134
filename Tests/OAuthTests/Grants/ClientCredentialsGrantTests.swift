import HTTPWire
import OAuth
import Testing

struct ClientCredentialsGrantTests {
  @Test func `the request is a form with what was asked for`() throws {
    let grant = ClientCredentialsGrant(
      target: GrantTarget(
        scope: "read:orders write:orders", audience: "https://api.example.com/",
        resources: ["https://a.example/", "https://b.example/"], parameters: [("organization", "ö & co")]))
    let endpoint = try HTTPURL(parsing: "https://id.example.com/oauth/token")
    let request = try sent(grant.request(endpoint: endpoint, authentication: .none(clientID: "c")))
    #expect(request.method == "POST")
    #expect(request.url.absoluteString == "https://id.example.com/oauth/token")
    #expect(request.field("Content-Type") == "application/x-www-form-urlencoded")
    #expect(request.field("Accept") == "application/json")
    #expect(
      request.form == [
        "grant_type": ["client_credentials"], "scope": ["read:orders write:orders"],
        "audience": ["https://api.example.com/"], "resource": ["https://a.example/", "https://b.example/"],
        "organization": ["ö & co"], "client_id": ["c"],
      ])
  }

  @Test func `what was not asked for is not there`() throws {
    #expect(try ClientCredentialsGrant().sentForm() == ["grant_type": ["client_credentials"], "client_id": ["c"]])
    #expect(try ClientCredentialsGrant(target: GrantTarget(scope: "")).sentForm()["scope"] == nil)
  }
}
