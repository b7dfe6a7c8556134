import Cryptography
import HTTPWire
import OAuth

extension HTTPSendFailure {
  /// A short stable word for records.
  var code: String {
    switch self {
    case .unreachable: "unreachable"
    case .tls: "tls"
    case .timeout: "timeout"
    case .protocolViolation: "protocol_violation"
    case .closed: "closed"
    case .tooLarge: "answer_too_large"
    }
  }

  fileprivate var detail: String {
    switch self {
    case .unreachable(let why): "the authorization server can't be reached: \(why)"
    case .tls(let why): "there is no safe connection to the authorization server: \(why)"
    case .timeout: "the authorization server did not answer in time"
    case .protocolViolation(let why): "the authorization server did not answer in HTTP: \(why)"
    case .closed: "the authorization server closed the connection before it had answered"
    case .tooLarge: "the authorization server's answer is too large"
    }
  }
}

extension FetchFailure {
  init(_ failure: HTTPSendFailure) {
    self.init(kind: .unavailable, code: failure.code, detail: failure.detail)
    switch failure {
    case .unreachable, .tls: break  // nothing was sent
    case .timeout, .protocolViolation, .closed, .tooLarge: effect = .unknown
    }
  }

  /// An error of ours, before anything was sent.
  init(_ error: OAuthError) {
    self.init(kind: .refused, code: error.code, detail: "\(error)")
  }

  /// An answer without a token.
  ///
  /// - Parameter secrets: what was sent: the server may have repeated it.
  init(_ error: OAuthError, answer: AuthorizationServerCaller.Answer, secrets: [Secret]) {
    var detail = "\(error)"
    var retryAfter: Duration?
    if case .endpoint(let endpoint) = error {
      retryAfter = endpoint.retryAfter
      if let text = endpoint.serverText { detail += ": \(text.shown(hiding: secrets))" }
    }
    let kind: Kind = Self.isTransient(error, answer) ? .unavailable : .refused
    self.init(kind: kind, code: error.code, detail: detail, retryAfter: retryAfter)
    effect = Self.effect(error, answer)
  }

  /// What the server did with the grant. RFC 6749 §5.2
  private static func effect(_ error: OAuthError, _ answer: AuthorizationServerCaller.Answer) -> Effect {
    switch error {
    case .endpoint(let endpoint) where endpoint.status >= 500: return .unknown  // whatever a broken server says
    case .endpoint(let endpoint) where endpoint.code == "invalid_grant":
      return answer.followsChallenge ? .grantRefusedAfterChallenge : .grantRefused
    // Told so in the terms of OAuth, or told to come later, nothing was done.
    case .endpoint(let endpoint) where endpoint.status == 429: return .none
    case .endpoint(let endpoint) where endpoint.code != nil: return .none
    default: return .unknown
    }
  }

  private static func isTransient(_ error: OAuthError, _ answer: AuthorizationServerCaller.Answer) -> Bool {
    switch error {
    case .endpoint(let endpoint) where endpoint.code == "use_dpop_nonce": answer.newNonceWasOffered
    // The proof was dated by a clock that is known to be wrong by now; the next one will be right.
    case .endpoint(let endpoint) where endpoint.code == "invalid_dpop_proof": answer.skewWasLearned
    case .endpoint(let endpoint): endpoint.isTransient
    case .malformedAnswer: true  // a login page of the network, a server in maintenance
    default: false
    }
  }

  init(_ failure: MetadataFailure, issuer: Issuer) {
    let place = "the metadata of \(issuer.text)"
    switch failure {
    case .notFound(let status):
      self.init(
        kind: .refused, code: "metadata_not_found", detail: "\(place) are not at the well-known places (\(status))")
    case .defect(let defect):
      self.init(kind: .refused, code: "metadata_unusable", detail: "\(place) can't be used: \(defect)")
    case .unavailable(let status, let retryAfter):
      self.init(
        kind: .unavailable, code: "http_\(status)", detail: "\(place) can't be had now: the server answered \(status)",
        retryAfter: retryAfter)
    case .unreachable(let failure): self.init(failure)
    }
  }
}
