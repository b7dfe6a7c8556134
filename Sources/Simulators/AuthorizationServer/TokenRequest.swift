/// A request of an authenticated client to the token endpoint.
struct TokenRequest: Sendable {
  let client: SimulatedClient
  let form: TokenForm
  let settings: AuthorizationServerSettings
  let state: SimulationState

  /// What `scope` asks for, or all there is.
  ///
  /// - Parameter granted: what was granted before; nil if nothing was. RFC 6749 §3.3, §6
  func scope(within granted: String? = nil) throws(TokenRefusal) -> String? {
    guard let asked = form["scope"] else { return granted }
    let allowed = granted.map { $0.split(separator: " ").map(String.init) } ?? settings.scopes
    guard let allowed else { return asked }
    guard asked.split(separator: " ").allSatisfy({ allowed.contains(String($0)) }) else {
      throw TokenRefusal(.scopeInvalid, granted == nil ? "a scope is not known here" : "a scope was not granted")
    }
    return asked
  }

  /// What the token is for: `audience` as Auth0 has it, `resource` by RFC 8707 §2.
  ///
  /// - Parameter granted: what was granted before; empty if anything was.
  func audiences(within granted: [String] = []) throws(TokenRefusal) -> [String] {
    let known = granted.isEmpty ? settings.audiences : granted
    let standard = [known.first ?? state.origin(of: .api)]
    let asked = form.all("audience") + form.all("resource")
    if asked.isEmpty { return standard }
    if known.isEmpty || asked.allSatisfy(known.contains) { return asked }
    guard settings.ignoresUnknownAudience else {
      throw TokenRefusal(.targetInvalid, "an audience or resource is not known here")
    }
    return standard
  }
}
