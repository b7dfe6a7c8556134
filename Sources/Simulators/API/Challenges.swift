import HTTPWire

/// `WWW-Authenticate` fields. RFC 9110 §11.6.1, RFC 9449 §7.1, §9
enum Challenges {
  /// What an API says to a request whose proof lacks the nonce.
  static func nonce(_ style: NonceChallenge) -> [HTTPField] {
    let dpop =
      style.hasOddCase
      ? #"dpop ERROR="use_dpop_nonce", ALGS="ES256", Error_Description="Nonce required""#
      : #"DPoP error="use_dpop_nonce", error_description="Resource server requires nonce in DPoP proof", algs="ES256""#
    let bearer = #"Bearer realm="api", error="invalid_token", error_description="Bearer, \"too\"""#
    switch style.bearer {
    case .none: return [field(dpop)]
    case .beforeInOneLine: return [field("\(bearer), \(dpop)")]
    case .afterInOneLine: return [field("\(dpop), \(bearer)")]
    case .beforeInOwnLine: return [field(bearer), field(dpop)]
    case .afterInOwnLine: return [field(dpop), field(bearer)]
    }
  }

  /// - Parameter verdict: the description, so that a client's log tells which check failed.
  static func dpop(error: String? = nil, _ verdict: Verdict? = nil) -> [HTTPField] {
    guard let error else { return [field(#"DPoP algs="ES256""#)] }
    let description = verdict.map { #", error_description="\#($0.rawValue)""# } ?? ""
    return [field(#"DPoP error="\#(error)"\#(description), algs="ES256""#)]
  }

  static func bearer(error: String?, scope: String? = nil) -> [HTTPField] {
    var text = #"Bearer realm="api""#
    if let error { text += #", error="\#(error)""# }
    if let scope { text += #", scope="\#(scope)""# }
    return [field(text)]
  }

  static func field(_ value: String) -> HTTPField { HTTPField(name: "WWW-Authenticate", value: value) }
}
