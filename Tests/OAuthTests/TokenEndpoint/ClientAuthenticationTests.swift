import Cryptography
import HTTPWire
import OAuth
import Testing

struct ClientAuthenticationTests {
  private func request(_ authentication: ClientAuthentication) throws -> HTTPRequest {
    let endpoint = try HTTPURL(parsing: "https://id.example.com/token")
    var call = EndpointCall(
      ClientCredentialsGrant().request(endpoint: endpoint, authentication: authentication), proofKey: nil)
    return try call.send(nonce: nil, issuedAtUnixSeconds: 0)
  }

  @Test func `a client without a secret names itself in the body`() throws {
    let request = try request(.none(clientID: "c 1"))
    #expect(request.form["client_id"] == ["c 1"])
    #expect(request.field("Authorization") == nil)
  }

  @Test func `client_secret_basic encodes both halves as a form before joining them`() throws {
    let request = try request(.basic(clientID: "my client:1", secret: Secret(utf8: "p%ss:w&rd+ü")))
    let field = try #require(request.field("Authorization"))
    #expect(field.hasPrefix("Basic "))
    let decoded = try #require(Base64.decode(String(field.dropFirst(6))))
    #expect(String(decoding: decoded, as: UTF8.self) == "my+client%3A1:p%25ss%3Aw%26rd%2B%C3%BC")
    #expect(request.form["client_id"] == nil)
    #expect(request.form["client_secret"] == nil)
  }

  @Test func `client_secret_post puts both into the body and nothing into the head`() throws {
    let request = try request(.post(clientID: "c", secret: Secret(utf8: "p%ss w&rd")))
    #expect(request.form["client_id"] == ["c"])
    #expect(request.form["client_secret"] == ["p%ss w&rd"])
    #expect(request.field("Authorization") == nil)
  }

  @Test func `a client's secret does not print`() {
    let authentication = ClientAuthentication.post(clientID: "c", secret: Secret(utf8: "sentinel-secret"))
    #expect(!"\(authentication) \(String(reflecting: authentication))".contains("sentinel"))
  }
}
