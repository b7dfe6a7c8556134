import HTTPWire
import OAuth
import Testing

struct ClientCredentialsGrantTests {
  private func request(_ grant: ClientCredentialsGrant) throws -> HTTPRequest {
    let endpoint = try HTTPURL(parsing: "https://id.example.com/oauth/token")
    var call = EndpointCall(grant.request(endpoint: endpoint, authentication: .none(clientID: "c")), proofKey: nil)
    return try call.send(nonce: nil, issuedAtUnixSeconds: 0)
  }

  @Test func `the request is a form with what was asked for`() throws {
    let request = try request(
      ClientCredentialsGrant(
        scope: "read:orders write:orders", audience: "https://api.example.com/",
        resources: ["https://a.example/", "https://b.example/"], parameters: [("organization", "ö & co")]))
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
    #expect(try request(ClientCredentialsGrant()).form == ["grant_type": ["client_credentials"], "client_id": ["c"]])
    #expect(try request(ClientCredentialsGrant(scope: "")).form["scope"] == nil)
  }
}
