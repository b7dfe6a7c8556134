import HTTPWire

extension ReadingContext {
  static let scopeTokensMax = 100
  static let resourcesMax = 20
  static let parametersMax = 50

  /// The keys that say what a token is for; a key that is absent or wrong keeps what `base` says.
  func readTokenTarget(_ section: Section, base: TokenTarget = TokenTarget()) -> TokenTarget {
    var target = base
    if let audience = section["audience"]?.string(expected: "the API's identifier") { target.audience = audience }
    if let entry = section["scope"], let scope = readScope(entry) { target.scope = scope }
    if let entry = section["resource"] { target.resource = readResources(entry) }
    if let entry = section["parameters"] {
      let own = readParameters(entry)
      target.parameters.removeAll { inherited in own.contains { $0.name == inherited.name } }
      target.parameters += own
    }
    return target
  }

  /// Words in one text, or a list of them (RFC 6749 §3.3).
  private func readScope(_ entry: Entry) -> [String]? {
    var tokens: [String] = []
    for item in entry.list() {
      guard let text = item.string(expected: "scope names with spaces between them") else { return nil }
      for word in text.split(separator: " ") where !tokens.contains(String(word)) {
        guard ASCII.isScopeToken(word) else {
          item.report("has a character that no scope can have")
          return nil
        }
        tokens.append(String(word))
      }
    }
    guard tokens.count <= Self.scopeTokensMax else {
      entry.report("more than \(Self.scopeTokensMax) scopes")
      return nil
    }
    return tokens
  }

  /// Absolute URIs without fragment (RFC 8707 §2).
  private func readResources(_ entry: Entry) -> [String] {
    let items = entry.list()
    guard items.count <= Self.resourcesMax else {
      entry.report("more than \(Self.resourcesMax) resources")
      return []
    }
    var resources: [String] = []
    for item in items {
      guard let text = item.string(expected: "an absolute URI") else { continue }
      guard ASCII.isAbsoluteURI(text) else {
        item.report("must be an absolute URI without fragment, such as https://api.example.com/")
        continue
      }
      if !resources.contains(text) { resources.append(text) }
    }
    return resources
  }

  private func readParameters(_ entry: Entry) -> [TokenParameter] {
    let pairs = entry.pairs(of: "token request parameters and their values")
    guard pairs.count <= Self.parametersMax else {
      entry.report("more than \(Self.parametersMax) parameters")
      return []
    }
    var parameters: [TokenParameter] = []
    for (name, entry) in pairs {
      guard !name.isEmpty, ASCII.isPrintable(name) else {
        entry.reportKey("must be a parameter name")
        continue
      }
      guard !TokenTarget.reservedParameters.contains(name) else {
        let hasKey = KeyTable.oidcCredential.known.contains(name)
        entry.reportKey(hasKey ? "has a key of its own: \(name)" : "is set by proofd itself")
        continue
      }
      if let value = entry.string() { parameters.append(TokenParameter(name: name, value: value)) }
    }
    return parameters
  }
}
