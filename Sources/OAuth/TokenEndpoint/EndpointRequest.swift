package import Cryptography
package import HTTPWire

/// What a client asks of an endpoint of its authorization server, before it is a request.
package struct EndpointRequest: Sendable {
  package let endpoint: HTTPURL
  package let parameters: [FormParameter]
  package let authentication: ClientAuthentication

  package init(endpoint: HTTPURL, parameters: [FormParameter], authentication: ClientAuthentication) {
    self.endpoint = endpoint
    self.parameters = parameters
    self.authentication = authentication
  }

  /// Everything in it that must not show in what the server says: servers repeat what they were sent.
  package var secrets: [Secret] { parameters.compactMap(\.secret) + (authentication.secret.map { [$0] } ?? []) }
}
