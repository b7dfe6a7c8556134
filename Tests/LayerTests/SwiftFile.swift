struct SwiftFile {
  /// Relative to the root of the repository.
  let path: String
  let text: String

  /// The target's folder: `Sources/NAME/…` is NAME.
  var module: String { String(path.split(separator: "/")[1]) }

  var lineCount: Int { text.utf8.count { $0 == UInt8(ascii: "\n") } }

  /// The modules its import lines name.
  func imports() throws -> [String] {
    let attributes = #"(?:@\w+(?:\([^)]*\))?[ ]+)*"#
    let access = "(?:(?:public|package|internal|fileprivate|private)[ ]+)?"
    let kind = "(?:(?:struct|class|enum|protocol|typealias|func|var|let)[ ]+)?"
    return try Pattern("^[ ]*\(attributes)\(access)import[ ]+\(kind)(\\w+)").matches(in: text).map { $0[1] }
  }
}
