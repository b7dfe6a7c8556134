package import HTTPWire

/// One way to come by a token: makes the request of a token endpoint and judges its answer. Pure.
///
/// ```swift
/// let request = grant.request(endpoint: url, authentication: authentication)
/// let token = try grant.judge(try await call(request), binding: binding)
/// ```
/// RFC 6749 §4, §4.5
package protocol TokenGrant: Sendable {
  static var grantType: String { get }
  /// What the token is for.
  var target: GrantTarget { get }
  /// What the grant shows for it, besides `grant_type` and the target.
  var parameters: [FormParameter] { get }
}

extension TokenGrant {
  package func request(endpoint: HTTPURL, authentication: ClientAuthentication) -> EndpointRequest {
    EndpointRequest(
      endpoint: endpoint,
      parameters: [FormParameter("grant_type", Self.grantType)] + parameters + target.formParameters,
      authentication: authentication)
  }

  /// - Parameters:
  ///   - allowsNotApplicable: whether something that is no access token was asked for.
  /// - Throws: ``OAuthError``
  /// RFC 6749 §5
  package func judge(
    _ response: HTTPResponse, binding: TokenBinding, allowsNotApplicable: Bool = false
  ) throws(OAuthError) -> TokenResponse {
    try TokenResponse(judging: response, binding: binding, allowsNotApplicable: allowsNotApplicable)
  }
}

/// What a token is asked for, whatever the grant.
package struct GrantTarget: Sendable {
  /// Space-separated; nil leaves it to the server. RFC 6749 §3.3
  package let scope: String?
  /// The API's identifier: RFC 8693 §2.1 for an exchange; several providers want it in every grant.
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

  var formParameters: [FormParameter] {
    var form: [FormParameter] = []
    if let scope, !scope.isEmpty { form.append(FormParameter("scope", scope)) }
    if let audience { form.append(FormParameter("audience", audience)) }
    form += resources.map { FormParameter("resource", $0) }
    form += parameters.map { FormParameter($0, $1) }
    return form
  }
}
