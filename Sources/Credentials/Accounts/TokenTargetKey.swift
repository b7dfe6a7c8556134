import HTTPWire
import OAuth

/// What a token is asked for. With the grant it tells tokens apart: scopes are compared as a set, and so are resources.
package struct TokenTargetKey: Sendable {
  /// The `audience` parameter of several providers (not of an RFC).
  package let audience: String?
  /// RFC 8707 §2
  package let resources: [String]
  /// RFC 6749 §3.3, each once, in the order they are sent.
  package let scope: [String]
  /// More parameters of the token request, as they are.
  package let parameters: [(name: String, value: String)]
  /// One canonical text, equal for equal targets.
  package let text: String

  package init(
    audience: String? = nil, resources: [String] = [], scope: [String] = [],
    parameters: [(name: String, value: String)] = []
  ) {
    self.audience = audience
    self.resources = resources
    self.scope = scope
    self.parameters = parameters
    var pairs = audience.map { [("audience", $0)] } ?? []
    pairs += Set(resources).sorted().map { ("resource", $0) }
    pairs += Set(scope).sorted().map { ("scope", $0) }
    pairs += parameters.sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { ("parameter.\($0.name)", $0.value) }
    text = String(decoding: FormURLEncoded.encode(pairs), as: UTF8.self)
  }

  var grantTarget: GrantTarget {
    GrantTarget(
      scope: scope.isEmpty ? nil : scope.joined(separator: " "), audience: audience, resources: resources,
      parameters: parameters.map { ($0.name, $0.value) })
  }

  /// This, where `ask` says nothing else.
  func overridden(by ask: TokenAsk) -> TokenTargetKey {
    TokenTargetKey(
      audience: ask.audience ?? audience, resources: ask.resource.isEmpty ? resources : ask.resource,
      scope: ask.scope.isEmpty ? scope : ask.scope, parameters: parameters)
  }
}

extension TokenTargetKey: Hashable {
  package static func == (a: TokenTargetKey, b: TokenTargetKey) -> Bool { a.text == b.text }
  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
