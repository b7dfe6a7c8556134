/// What a simulator thought of a request.
package enum Verdict: String, Sendable, CaseIterable {
  case accepted

  // The request itself
  case malformed
  case hostWrong = "host_wrong"
  case targetWrong = "target_wrong"
  case notFound = "not_found"
  case methodWrong = "method_wrong"

  // The proof. RFC 9449 §4.3
  case proofMissing = "proof_missing"
  case proofRepeated = "proof_repeated"
  case proofMalformed = "proof_malformed"
  case proofType = "proof_typ"
  case proofAlgorithm = "proof_alg"
  case proofKey = "proof_jwk"
  case proofSignature = "proof_signature"
  case proofClaims = "proof_claims"
  case proofMethod = "proof_htm"
  case proofURL = "proof_htu"
  case proofTime = "proof_iat"
  case proofTokenHash = "proof_ath"
  case proofReplayed = "proof_jti_reused"
  case nonceMissing = "nonce_missing"
  case nonceUnknown = "nonce_unknown"

  // The token endpoint. RFC 6749 §5.2
  case requestInvalid = "invalid_request"
  case clientInvalid = "invalid_client"
  case grantUnsupported = "unsupported_grant_type"
  case scopeInvalid = "invalid_scope"
  case targetInvalid = "invalid_target"

  // The grant that is presented: `invalid_grant` to the client. RFC 6749 §5.2, RFC 9700 §4.14.2
  case refreshUnknown = "refresh_unknown"
  case refreshClient = "refresh_client"
  case refreshBinding = "refresh_binding"
  case refreshReused = "refresh_reused"
  case refreshExpired = "refresh_expired"
  case grantRevoked = "grant_revoked"
  case passwordWrong = "password_wrong"
  case assertionInvalid = "assertion_invalid"
  case subjectInvalid = "subject_invalid"

  // The credential at the API
  case credentialMissing = "credential_missing"
  case credentialRepeated = "credential_repeated"
  case schemeWrong = "scheme_wrong"
  case credentialWrong = "credential_wrong"
  case tokenUnknown = "token_unknown"
  case tokenExpired = "token_expired"
  case tokenRevoked = "token_revoked"
  case tokenAudience = "token_audience"
  case tokenBinding = "token_binding"
  case scopeMissing = "scope_missing"
  /// Everything was right and a setting or fault refused it all the same.
  case refusedBySetting = "refused_by_setting"
}

extension Verdict {
  /// The `error` of the token endpoint's answer. RFC 6749 §5.2
  var tokenError: String {
    switch self {
    case .refreshUnknown, .refreshClient, .refreshBinding, .refreshReused, .refreshExpired, .grantRevoked,
      .passwordWrong, .assertionInvalid:
      "invalid_grant"
    // RFC 8693 §2.2.2
    case .subjectInvalid: "invalid_request"
    default: rawValue
    }
  }
}

/// Which of the two servers.
package enum Role: String, Sendable, CaseIterable {
  case authorizationServer = "as"
  case api
}
