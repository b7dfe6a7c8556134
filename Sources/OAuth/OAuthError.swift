package import Cryptography

/// Why an authorization server's answer gives no token. No case holds a secret of ours; texts of the server are bounded.
package enum OAuthError: Error, Sendable, Equatable {
  /// The server answered with an error. RFC 6749 §5.2
  case endpoint(EndpointError)
  /// The server answered with success, but not with what the RFC asks for.
  case malformedAnswer(AnswerDefect)
  /// The token is of another type than the one asked for. Sending it as what it is would give up its protection.
  /// RFC 9449 §5
  case tokenTypeMismatch(wanted: TokenType, received: TokenType)
  /// The token can't be put into a header field. RFC 9110 §11.2
  case tokenNotSendable
  /// The token names another key than the one its request was signed with. RFC 9449 §6.1
  case boundToAnotherKey
  /// The server's metadata leave no algorithm both sides know. RFC 9449 §5.1
  case noCommonProofAlgorithm
  /// The proof could not be made.
  case proof(CryptographyError)
  /// An assertion could not be signed.
  case assertion(CryptographyError)
}

/// What is wrong with a successful answer.
package enum AnswerDefect: String, Sendable {
  case notJSON = "it is not a JSON object"
  case accessTokenMissing = "it has no access_token"
  case accessTokenTooLong = "its access_token is too long"
  case refreshTokenTooLong = "its refresh_token is too long"
  case scopeTooLong = "its scope is too long"
}

extension OAuthError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .endpoint(let error): "the authorization server answered \(error.summary)"
    case .malformedAnswer(let defect): "the authorization server's answer can't be used: \(defect.rawValue)"
    case .tokenTypeMismatch(let wanted, let received):
      "a token of type \(wanted) was asked for and one of type \(received) came"
    case .tokenNotSendable: "the access token has characters that a header field can't carry"
    case .boundToAnotherKey: "the access token is bound to another key than ours"
    case .noCommonProofAlgorithm: "the authorization server does not accept ES256, the algorithm of our DPoP proofs"
    case .proof(let error): "no DPoP proof could be made: \(error)"
    case .assertion(let error): "no assertion could be signed: \(error)"
    }
  }

  /// A short stable word for records: the server's error code, or one of our own.
  package var code: String {
    switch self {
    case .endpoint(let error): error.code ?? "http_\(error.status)"
    case .malformedAnswer: "malformed_answer"
    case .tokenTypeMismatch: "token_type_mismatch"
    case .tokenNotSendable: "token_not_sendable"
    case .boundToAnotherKey: "bound_to_another_key"
    case .noCommonProofAlgorithm: "no_common_proof_algorithm"
    case .proof: "proof_failed"
    case .assertion: "assertion_failed"
    }
  }
}
