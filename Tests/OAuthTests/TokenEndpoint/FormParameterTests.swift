import Cryptography
import HTTPWire
import OAuth
import Testing

struct FormParameterTests {
  private func request(_ authentication: ClientAuthentication) throws -> EndpointRequest {
    let grant = ResourceOwnerPasswordGrant(
      username: "sentinel-user", password: Secret(utf8: "sentinel-password"),
      target: GrantTarget(parameters: [("api_key", "sentinel-text")]))
    return grant.request(
      endpoint: try HTTPURL(parsing: "https://id.example.com/token"), authentication: authentication)
  }

  @Test func `no description of a request shows what is in it`() throws {
    let request = try request(.post(clientID: "c", secret: Secret(utf8: "sentinel-secret")))
    let call = EndpointCall(request, proofKey: nil)
    var dumped = ""
    dump(request, to: &dumped)
    dump(call, to: &dumped)
    for text in ["\(request)", String(reflecting: request), "\(call)", String(reflecting: call), dumped] {
      #expect(!text.contains("sentinel"))
    }
    #expect("\(request.parameters)" == "[grant_type, username, password, api_key]")
  }

  @Test func `a request knows the secrets that its answer must not show`() throws {
    let secrets = try request(.basic(clientID: "c", secret: Secret(utf8: "sentinel-secret"))).secrets
    #expect(secrets == [Secret(utf8: "sentinel-password"), Secret(utf8: "sentinel-secret")])
    #expect(try request(.none(clientID: "c")).secrets == [Secret(utf8: "sentinel-password")])
  }
}
