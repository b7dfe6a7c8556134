/// Where something stands in the file: line and column from 1, columns counted in Unicode scalars.
struct SourceMark: Equatable, Comparable {
  var line: Int
  var column: Int

  static func < (a: SourceMark, b: SourceMark) -> Bool { (a.line, a.column) < (b.line, b.column) }
}

/// A value of the file before our schema gives it a type.
struct YAMLNode {
  enum Content {
    /// `plain` is a scalar without quotes: only such a one can be a boolean, a number, a duration or a size.
    case scalar(String, plain: Bool)
    case sequence([YAMLNode])
    case mapping([YAMLPair])
    /// Refused and reported already: whoever reads it says nothing more.
    case refused
  }

  let content: Content
  let mark: SourceMark
}

/// One `key: value` of a mapping.
struct YAMLPair {
  let key: String
  let keyMark: SourceMark
  let value: YAMLNode
}
