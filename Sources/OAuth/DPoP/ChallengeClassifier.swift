package import HTTPWire

/// What the challenges of an answer come down to. Several schemes, several lines and any case are usual. Pure.
package enum ChallengeClassifier {
  /// - Parameters:
  ///   - challenges: of every `WWW-Authenticate` field line.
  ///   - proofWasSent: the request had a DPoP proof. An error of scheme Bearer counts for it too, since servers exist
  ///     that name the wrong scheme; the other way round a DPoP error says nothing about a bearer token.
  /// RFC 6750 §3, RFC 9449 §7.1, §9, RFC 9470 §3
  package static func verdict(_ challenges: [Challenge], proofWasSent: Bool) -> ChallengeVerdict {
    var verdict = ChallengeVerdict.bare
    for challenge in challenges {
      guard let error = challenge["error"] else { continue }
      let isDPoP = challenge.isScheme("DPoP")
      let counts = isDPoP ? proofWasSent : challenge.isScheme("Bearer")
      let found = counts ? self.verdict(error, isDPoP: isDPoP) : .otherError
      if found.weight > verdict.weight { verdict = found }
    }
    return verdict
  }

  private static func verdict(_ error: String, isDPoP: Bool) -> ChallengeVerdict {
    switch error {
    case "use_dpop_nonce" where isDPoP: .useDPoPNonce
    case "invalid_token": .invalidToken
    case "insufficient_scope": .insufficientScope
    case "insufficient_user_authentication": .insufficientUserAuthentication
    default: .otherError
    }
  }

  /// - Parameter fieldValues: of every `WWW-Authenticate` field line.
  package static func verdict(fieldValues: [String], proofWasSent: Bool) -> ChallengeVerdict {
    verdict(Challenge.parse(fieldValues), proofWasSent: proofWasSent)
  }

  /// Whether a peeked body demands a nonce: `{"error": "use_dpop_nonce", …}`.
  package static func bodyDemandsNonce(_ body: [UInt8]) -> Bool {
    guard body.count <= ResponseSignal.peekBytesMax, let json = try? JSONValue(parsing: body) else {
      return false  // what is not JSON demands nothing
    }
    return json["error"]?.stringValue == "use_dpop_nonce"
  }
}

extension ChallengeVerdict {
  /// Which of several verdicts on one answer holds: a demand for a nonce says that nothing else was looked at yet, and a
  /// demand for more rights is never met with another token.
  fileprivate var weight: Int {
    switch self {
    case .bare: 0
    case .otherError: 1
    case .invalidToken: 2
    case .insufficientScope: 3
    case .insufficientUserAuthentication: 4
    case .useDPoPNonce: 5
    }
  }
}
