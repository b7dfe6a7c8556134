package import Cryptography

/// Where a secret is to be read from; reading it is not done here.
package enum SecretReference: Sendable, Equatable {
  /// The name of an environment variable of the daemon.
  case environment(String)
  /// An absolute path. The secret is the content without the line end.
  case file(String)
  /// A program and its arguments, at least the program; no shell. The secret is its output without the line end.
  case command([String])
  /// The secret itself stood in the file.
  case literal(Secret)

  /// The fewest characters a literal secret may have: shorter ones are examples and mistakes.
  package static let literalCharactersMin = 8
  /// The fewest bytes any secret may have: shorter ones can't be kept out of the log.
  package static let bytesMin = 8
}

extension SecretReference: CustomStringConvertible, CustomDebugStringConvertible {
  /// As the configuration spells it, but never a literal secret nor the arguments of a command.
  package var description: String {
    switch self {
    case .environment(let name): "{env: \(name)}"
    case .file(let path): "{file: \(path)}"
    case .command(let words): words.count > 1 ? "{command: [\(words[0]), …]}" : "{command: [\(words[0])]}"
    case .literal: "[secret]"
    }
  }
  package var debugDescription: String { description }
}
