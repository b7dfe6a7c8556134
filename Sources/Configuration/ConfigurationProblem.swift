/// One mistake, or one doubtful thing, in a configuration file, with where it stands.
///
/// A problem names keys, never values: a value in the wrong place may be a secret.
package struct ConfigurationProblem: Error, Sendable, Equatable {
  package enum Severity: String, Sendable {
    /// The file is not used.
    case error
    /// The file is used; `proofd check` says what is doubtful.
    case warning
  }

  package var severity: Severity
  package var file: String
  /// From 1; 0 when the problem is the file as a whole.
  package var line: Int
  /// From 1, in Unicode scalars; 0 when the problem is the file as a whole.
  package var column: Int
  /// For instance `routes.orders.upstream`; empty when the problem is not about one key.
  package var keyPath: String
  package var message: String
  /// The nearest key or name that would have been right.
  package var suggestion: String?

  package init(
    severity: Severity, file: String, line: Int, column: Int, keyPath: String, message: String, suggestion: String?
  ) {
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.keyPath = keyPath
    self.message = message
    self.suggestion = suggestion
  }
}

extension ConfigurationProblem: CustomStringConvertible {
  /// As compilers write it: `proofd.yaml:12:5: error: routes.orders.upstrem: unknown key; did you mean "upstream"?`
  package var description: String {
    let place = line == 0 ? file : "\(file):\(line):\(column)"
    let key = keyPath.isEmpty ? "" : "\(keyPath): "
    let hint = suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
    return "\(place): \(severity.rawValue): \(key)\(message)\(hint)"
  }
}
