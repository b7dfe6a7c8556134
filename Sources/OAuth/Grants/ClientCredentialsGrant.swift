package import HTTPWire

/// A token for the client itself. RFC 6749 §4.4
package struct ClientCredentialsGrant: Sendable {
  /// Space-separated; nil leaves it to the server. RFC 6749 §3.3
  package let scope: String?
  /// The API's identifier, as several providers want it; not of an RFC.
  package let audience: String?
  /// RFC 8707 §2
  package let resources: [String]
  /// More parameters, as they are.
  package let parameters: [(String, String)]

  package init(
    scope: String? = nil, audience: String? = nil, resources: [String] = [], parameters: [(String, String)] = []
  ) {
    self.scope = scope
    self.audience = audience
    self.resources = resources
    self.parameters = parameters
  }

  /// RFC 6749 §4.4.2
  package func request(endpoint: HTTPURL, authentication: ClientAuthentication) -> EndpointRequest {
    var form = [("grant_type", "client_credentials")]
    if let scope, !scope.isEmpty { form.append(("scope", scope)) }
    if let audience { form.append(("audience", audience)) }
    form += resources.map { ("resource", $0) }
    form += parameters
    return EndpointRequest(endpoint: endpoint, parameters: form, authentication: authentication)
  }

  /// RFC 6749 §4.4.3
  package func judge(_ response: HTTPResponse, binding: TokenBinding) throws(OAuthError) -> TokenResponse {
    try TokenResponse(judging: response, binding: binding)
  }
}
