/// What the readers of one file share.
final class ReadingContext {
  /// Something outside the file that the configuration counts on.
  struct Need {
    enum Kind {
      /// An environment variable holding a secret.
      case variable(String)
      /// A file holding a secret: it may still be on its way when the daemon starts.
      case secretFile(String)
      /// A file of certificates or of their key, read at start.
      case tlsFile(String)
    }
    let kind: Kind
    let entry: Entry
  }

  let problems: ProblemList
  let surroundings: Configuration.Surroundings
  /// For the loader to look after; a pure parse leaves it alone.
  private(set) var needs: [Need] = []

  init(problems: ProblemList, surroundings: Configuration.Surroundings) {
    self.problems = problems
    self.surroundings = surroundings
  }

  /// The environment variables that hold secrets.
  var secretVariables: Set<String> {
    Set(
      needs.compactMap { need in
        if case .variable(let name) = need.kind { name } else { nil }
      })
  }

  func need(_ kind: Need.Kind, _ entry: Entry) { needs.append(Need(kind: kind, entry: entry)) }

  /// An absolute path from one that may begin with `~` or be relative to the configuration file.
  func readPath(_ entry: Entry) -> String? {
    guard let text = entry.string(expected: "a path") else { return nil }
    guard !text.utf8.contains(0) else {
      entry.report("must be a path")
      return nil
    }
    if text.hasPrefix("/") { return text }
    guard text.hasPrefix("~") else { return Self.join(surroundings.baseDirectory, text) }
    guard text == "~" || text.hasPrefix("~/") else {
      entry.report("only ~/ for your own home directory is expanded; write the path out")
      return nil
    }
    guard let home = surroundings.home else {
      entry.report("begins with ~, and HOME is not set")
      return nil
    }
    return text == "~" ? home : Self.join(home, String(text.dropFirst(2)))
  }

  static func join(_ directory: String, _ name: String) -> String {
    directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
  }
}
