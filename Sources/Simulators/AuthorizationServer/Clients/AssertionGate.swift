/// Judges what an assertion claims, whoever signed it. RFC 7523 §3
struct AssertionGate: Sendable {
  /// An assertion that is good for longer is refused, as many servers do.
  static let lifetimeSecondsMax: Int64 = 3600
  /// How far the sender's clock may be ahead.
  static let leadSecondsMax: Int64 = 60

  let state: SimulationState

  /// - Parameter needsIdentifier: whether `jti` must be there; if it is, it is good once.
  /// - Throws: ``SignedAssertion/Defect``
  func admit(_ assertion: SignedAssertion, needsIdentifier: Bool) throws(SignedAssertion.Defect) {
    let issuer = state.issuer
    guard assertion.audiences.contains(where: { $0 == issuer || $0 == "\(issuer)/token" }) else {
      throw SignedAssertion.Defect("the assertion's aud is neither the issuer nor the token endpoint")
    }
    try judgeTime(of: assertion)
    guard let jti = assertion["jti"] else {
      if needsIdentifier { throw SignedAssertion.Defect("the assertion has no jti") }
      return
    }
    guard state.assertions.insert(jti: jti, key: assertion["iss"] ?? "") else {
      throw SignedAssertion.Defect("the assertion's jti was used before")
    }
  }

  private func judgeTime(of assertion: SignedAssertion) throws(SignedAssertion.Defect) {
    let now = state.now(at: .authorizationServer)
    guard let expiry = assertion.claims["exp"]?.int64Value, expiry > now else {
      throw SignedAssertion.Defect("the assertion is expired, or does not say when it expires")
    }
    guard expiry <= now + Self.lifetimeSecondsMax + Self.leadSecondsMax else {
      throw SignedAssertion.Defect("the assertion is good for more than \(Self.lifetimeSecondsMax) s")
    }
    for name in ["iat", "nbf"] where assertion.claims[name] != nil {
      guard let moment = assertion.claims[name]?.int64Value, moment <= now + Self.leadSecondsMax else {
        throw SignedAssertion.Defect("the assertion's \(name) is in the future, or no number")
      }
    }
  }
}
