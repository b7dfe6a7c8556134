/// Why no token can be had now. The text of each is for the user and holds no secret.
package enum TokenFailure: Error, Sendable, Equatable {
  /// The issuer can't be reached, or says that it can't answer now.
  case unavailable(detail: String, retryAfterSeconds: Int)
  /// The issuer, or a file or command, says no; trying again without changing the set-up is of no use.
  case refused(detail: String)
  /// Somebody has to log in.
  case loginRequired(detail: String)
  /// The credential store has to be unlocked.
  case locked(detail: String)

  package var detail: String {
    switch self {
    case .unavailable(let detail, _), .refused(let detail), .loginRequired(let detail), .locked(let detail): detail
    }
  }
}
