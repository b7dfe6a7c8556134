/// A file as Python's `configparser` writes and reads it: sections of `name = value` or `name: value`; names of options in
/// any case; lines that are indented continue the value before; `%%` is one `%`; what `[DEFAULT]` says counts in every
/// section. https://docs.python.org/3/library/configparser.html
struct INIFile {
  private var sections: [String: [String: String]] = [:]
  private static let defaults = "DEFAULT"

  /// - Throws: a usage failure with the line's number; nothing of the line is in it.
  init(_ text: String) throws(CommandFailure) {
    var section: String?
    var option: String?
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      let content = Self.trimmed(line)
      if content.isEmpty || content.hasPrefix("#") || content.hasPrefix(";") { continue }
      if let section, let option, line.first?.isWhitespace == true {
        sections[section]?[option]?.append("\n\(content)")
        continue
      }
      option = nil
      if content.hasPrefix("["), let end = content.lastIndex(of: "]") {
        let name = String(content[content.index(after: content.startIndex)..<end])
        guard sections[name] == nil else { throw Self.wrong(index, "a section that was there before") }
        sections[name] = [:]
        section = name
        continue
      }
      guard let section else { throw Self.wrong(index, "text before the first section") }
      guard let separator = content.firstIndex(where: { $0 == "=" || $0 == ":" }) else {
        throw Self.wrong(index, "no option with a value")
      }
      let name = Self.trimmed(content[..<separator]).lowercased()
      guard sections[section]?[name] == nil else { throw Self.wrong(index, "an option that was there before") }
      sections[section]?[name] = String(Self.trimmed(content[content.index(after: separator)...]))
      option = name
    }
  }

  var sectionNames: [String] { sections.keys.filter { $0 != Self.defaults }.sorted() }

  /// nil if there is none, or an empty one.
  func value(_ option: String, in section: String) -> String? {
    guard let value = sections[section]?[option] ?? sections[Self.defaults]?[option], !value.isEmpty else { return nil }
    return value.replacing("%%", with: "%")
  }

  private static func trimmed(_ text: Substring) -> Substring {
    let rest = text.drop(while: \.isWhitespace)
    return rest[..<(rest.lastIndex { !$0.isWhitespace }.map(rest.index(after:)) ?? rest.startIndex)]
  }

  private static func wrong(_ index: Int, _ what: String) -> CommandFailure {
    .usage("line \(index + 1) of the file is \(what)")
  }
}
