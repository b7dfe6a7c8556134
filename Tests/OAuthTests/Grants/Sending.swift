import HTTPWire
import OAuth

/// The first request that comes of an endpoint request.
func sent(_ request: EndpointRequest) throws -> HTTPRequest {
  var call = EndpointCall(request, proofKey: nil)
  return try call.send(nonce: nil, issuedAtUnixSeconds: 1_800_000_000)
}

extension TokenGrant {
  /// The form of its request by a public client `c`.
  func sentForm() throws -> [String: [String]] {
    let endpoint = try HTTPURL(parsing: "https://id.example.com/oauth/token")
    return try sent(request(endpoint: endpoint, authentication: .none(clientID: "c"))).form
  }
}
