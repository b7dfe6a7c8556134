/// What a token is asked for. With the credential's name it tells tokens apart.
package struct TokenTarget: Sendable {
  /// The `audience` parameter of several providers (not of an RFC).
  package var audience: String?
  /// RFC 6749 §3.3, in the order written, each once.
  package var scope: [String]
  /// RFC 8707 §2, in the order written.
  package var resource: [String]
  /// More parameters of the token request, in the order written, each name once.
  package var parameters: [TokenParameter]

  package init(
    audience: String? = nil, scope: [String] = [], resource: [String] = [], parameters: [TokenParameter] = []
  ) {
    self.audience = audience
    self.scope = scope
    self.resource = resource
    self.parameters = parameters
  }

  /// The `scope` parameter; nil when no scope is asked for.
  package var scopeParameter: String? { scope.isEmpty ? nil : scope.joined(separator: " ") }

  /// Parameters that proofd sets itself or that have keys of their own.
  package static let reservedParameters: Set = [
    "grant_type", "client_id", "client_secret", "client_assertion", "client_assertion_type", "scope", "audience",
    "resource", "code", "code_verifier", "redirect_uri", "refresh_token", "dpop_jkt", "device_code", "assertion",
    "subject_token", "subject_token_type", "actor_token", "actor_token_type", "requested_token_type", "username",
    "password",
  ]
}

/// A name and a value for the token endpoint.
package struct TokenParameter: Sendable, Hashable {
  package var name: String
  package var value: String

  package init(name: String, value: String) {
    self.name = name
    self.value = value
  }
}

extension TokenTarget: Hashable {
  /// Order says nothing in a scope (RFC 6749 §3.3), among resources or among parameters.
  package static func == (a: TokenTarget, b: TokenTarget) -> Bool {
    a.audience == b.audience && Set(a.scope) == Set(b.scope) && Set(a.resource) == Set(b.resource)
      && Set(a.parameters) == Set(b.parameters)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(audience)
    hasher.combine(Set(scope))
    hasher.combine(Set(resource))
    hasher.combine(Set(parameters))
  }
}
