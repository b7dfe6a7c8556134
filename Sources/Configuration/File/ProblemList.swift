/// Collects every problem of one file, in whatever order the readers find them.
final class ProblemList {
  static let problemsMax = 200

  private let file: String
  private(set) var problems: [ConfigurationProblem] = []
  private(set) var hasErrors = false
  private var dropped = 0

  init(file: String) { self.file = file }

  func add(
    _ mark: SourceMark, _ keyPath: String, _ message: String, suggestion: String? = nil,
    severity: ConfigurationProblem.Severity = .error
  ) {
    if severity == .error { hasErrors = true }
    guard problems.count < Self.problemsMax else {
      dropped += 1
      return
    }
    problems.append(
      ConfigurationProblem(
        severity: severity, file: file, line: mark.line, column: mark.column, keyPath: keyPath, message: message,
        suggestion: suggestion))
  }

  /// The problems from top to bottom of the file.
  func sorted() -> [ConfigurationProblem] {
    var all = problems.enumerated().sorted {
      ($0.element.line, $0.element.column, $0.offset) < ($1.element.line, $1.element.column, $1.offset)
    }.map(\.element)
    if dropped > 0 {
      all.append(
        ConfigurationProblem(
          severity: hasErrors ? .error : .warning, file: file, line: 0, column: 0, keyPath: "",
          message: "\(dropped) more problems are not shown", suggestion: nil))
    }
    return all
  }
}

extension SourceMark {
  /// For a problem with the file as a whole.
  static let wholeFile = SourceMark(line: 0, column: 0)
}
