import Cryptography

extension ReadingContext {
  static let commandWordsMax = 64
  private static let secretForms = "must be exactly one of {env: NAME}, {file: PATH} and {command: [PROGRAM, …]}"

  enum SecretKind {
    /// A word: a token, a password.
    case word
    /// PEM or JWK: lines, too.
    case privateKey
  }

  /// A secret by reference, or a literal one with a warning.
  func readSecret(_ entry: Entry, _ kind: SecretKind = .word) -> SecretReference? {
    switch entry.node.content {
    case .refused: return nil
    case .scalar(let text, _): return kind == .word ? readLiteral(text, entry) : readLiteralKey(text, entry)
    case .sequence:
      entry.report(Self.secretForms)
      return nil
    case .mapping: break
    }
    guard let section = Section(entry, KeyTable.secretReference) else { return nil }
    let sources = ["env", "file", "command"].compactMap { section[$0] }
    guard sources.count == 1 else {
      entry.report(Self.secretForms)
      return nil
    }
    if let entry = section["env"] { return readEnvironment(entry) }
    if let entry = section["file"] {
      guard let path = readPath(entry) else { return nil }
      need(.secretFile(path), entry)
      return .file(path)
    }
    return readCommand(sources[0])
  }

  private func readLiteral(_ text: String, _ entry: Entry) -> SecretReference? {
    guard text.count >= SecretReference.literalCharactersMin else {
      entry.report(
        text.isEmpty
          ? "needs a value: {env: NAME}, {file: PATH} or {command: [PROGRAM, …]}"
          : "a secret of fewer than \(SecretReference.literalCharactersMin) characters; use {env: NAME}, {file: PATH} or {command: […]}"
      )
      return nil
    }
    guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      entry.report("a secret has no line breaks and no control characters")
      return nil
    }
    entry.warn("the secret stands in the file; {env: NAME}, {file: PATH} or {command: […]} keeps it out")
    return .literal(Secret(utf8: text))
  }

  private func readLiteralKey(_ text: String, _ entry: Entry) -> SecretReference? {
    guard text.hasPrefix("-----BEGIN ") || text.hasPrefix("{") else {
      entry.report("must be {env: NAME}, {file: PATH} or {command: [PROGRAM, …]} of a private key, PEM or JWK")
      return nil
    }
    entry.warn("the private key stands in the file; {env: NAME}, {file: PATH} or {command: […]} keeps it out")
    return .literal(Secret(utf8: text))
  }

  private func readEnvironment(_ entry: Entry) -> SecretReference? {
    guard let name = entry.string(expected: "the name of an environment variable") else { return nil }
    let isName = name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || ASCII.isAlphanumeric($0) }
    guard isName, let first = name.utf8.first, !ASCII.isDigit(first) else {
      entry.report("must be the name of an environment variable: letters, digits and _, without $")
      return nil
    }
    need(.variable(name), entry)
    return .environment(name)
  }

  private func readCommand(_ entry: Entry) -> SecretReference? {
    guard case .sequence = entry.node.content else {
      entry.report("must be a list, program first: there is no shell to split it into words")
      return nil
    }
    let items = entry.list()
    guard let program = items.first, items.count <= Self.commandWordsMax else {
      entry.report("must be a list of 1 to \(Self.commandWordsMax) words, program first")
      return nil
    }
    guard let name = program.string(expected: "a program") else { return nil }
    // A bare name is looked up in PATH when the command runs.
    guard let executable = name.contains("/") || name.hasPrefix("~") ? readPath(program) : name else { return nil }
    var words = [executable]
    for item in items.dropFirst() {
      // An empty argument is an argument.
      guard case .scalar(let word, _) = item.node.content, !word.utf8.contains(0) else {
        item.report("must be a text")
        return nil
      }
      words.append(word)
    }
    return .command(words)
  }
}
