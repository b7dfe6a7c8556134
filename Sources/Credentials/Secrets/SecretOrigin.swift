package import Cryptography

/// Where a secret is read from.
package enum SecretOrigin: Sendable {
  /// A variable of the daemon's own environment, as it was at start.
  case environment(String)
  /// A path; the content without one line end.
  case file(String)
  /// A program and its arguments, without a shell; its output without one line end.
  case command([String])
  case literal(Secret)

  var kind: TokenSourceKind {
    switch self {
    case .environment: .environment
    case .file: .file
    case .command: .command
    case .literal: .literal
    }
  }
}
