import Foundation

/// A regular expression over whole files; `^` and `$` match at lines. The standard library's `Regex` takes seconds here
/// in a debug build.
struct Pattern {
  private let expression: NSRegularExpression

  init(_ pattern: String) throws {
    expression = try NSRegularExpression(pattern: pattern, options: [.anchorsMatchLines])
  }

  /// The groups of every match, the match itself first; a group that took no part is empty.
  func matches(in text: String) -> [[String]] {
    expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).map { match in
      (0..<match.numberOfRanges).map { group in
        Range(match.range(at: group), in: text).map { String(text[$0]) } ?? ""
      }
    }
  }
}
