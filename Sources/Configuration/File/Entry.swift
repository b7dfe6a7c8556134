/// One value of the file with the path to it: turns into a typed value, or reports why it can't.
struct Entry {
  let node: YAMLNode
  /// Where the key stands; the item itself for an item of a list.
  let keyMark: SourceMark
  let path: String
  let problems: ProblemList

  /// Reports an error at the value.
  func report(_ message: String, suggestion: String? = nil) {
    problems.add(node.mark, path, message, suggestion: suggestion)
  }

  /// Reports an error at the key: something should not be there at all, or is missing inside.
  func reportKey(_ message: String, suggestion: String? = nil) {
    problems.add(keyMark, path, message, suggestion: suggestion)
  }

  func warn(_ message: String) { problems.add(node.mark, path, message, severity: .warning) }

  /// The text of a scalar that is not empty, as written: `no` is "no".
  func string(expected: String = "a text") -> String? { scalar(expected)?.text }

  /// `true` or `false`, without quotes, and no other spelling.
  func boolean() -> Bool? {
    guard let scalar = scalar("true or false") else { return nil }
    switch (scalar.text, scalar.plain) {
    case ("true", true): return true
    case ("false", true): return false
    case ("yes", _), ("on", _), ("True", _), ("TRUE", _), ("true", _):
      report("must be true or false", suggestion: "true")
    case ("no", _), ("off", _), ("False", _), ("FALSE", _), ("false", _):
      report("must be true or false", suggestion: "false")
    default: report("must be true or false")
    }
    return nil
  }

  func integer(_ range: ClosedRange<Int>) -> Int? {
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard let scalar = scalar(expected) else { return nil }
    guard scalar.plain, let value = ScalarFormat.integer(scalar.text), range.contains(value) else {
      report("must be \(expected)")
      return nil
    }
    return value
  }

  /// A number with its unit: `500ms`, `10s`, `5m`, `1h`. Quoted too, as JSON has it.
  func duration(_ range: ClosedRange<Duration>) -> Duration? {
    let bounds = "from \(ScalarFormat.spell(range.lowerBound)) to \(ScalarFormat.spell(range.upperBound))"
    let expected = "a duration such as 500ms, 10s, 5m or 1h"
    guard let scalar = scalar(expected) else { return nil }
    guard let value = ScalarFormat.duration(scalar.text) else {
      let bare = scalar.plain && ScalarFormat.integer(scalar.text) != nil
      report(bare ? "needs a unit: ms, s, m or h" : "must be \(expected)")
      return nil
    }
    guard range.contains(value) else {
      report("must be \(bounds)")
      return nil
    }
    return value
  }

  /// Bytes: a number, or one in KiB, MiB or GiB. Quoted too, as JSON has it.
  func size(_ range: ClosedRange<Int>) -> Int? {
    let expected = "a size such as 65536, 64KiB or 1MiB"
    guard let scalar = scalar(expected) else { return nil }
    guard let value = ScalarFormat.size(scalar.text) else {
      let decimal = scalar.text.hasSuffix("KB") || scalar.text.hasSuffix("MB") || scalar.text.hasSuffix("GB")
      report("must be \(expected)\(decimal ? "; units are KiB, MiB and GiB" : "")")
      return nil
    }
    guard range.contains(value) else {
      report(
        "must be from \(ScalarFormat.spell(bytes: range.lowerBound)) to \(ScalarFormat.spell(bytes: range.upperBound))")
      return nil
    }
    return value
  }

  /// One of the names of `values`.
  ///
  /// - Parameters:
  ///   - later: those of a later version.
  ///   - others: what others call some of them, to suggest ours.
  func choice<Value>(
    _ values: KeyValuePairs<String, Value>, later: [String] = [], others: [String: String] = [:]
  ) -> Value? {
    let names = values.map(\.key)
    let listed = names.count == 1 ? names[0] : "one of \(names.joined(separator: ", "))"
    guard let text = string(expected: listed) else { return nil }
    if let value = values.first(where: { $0.key == text })?.value { return value }
    if later.contains(text) {
      report("\"\(text)\" is \(LaterVersions.message); it knows \(names.joined(separator: ", "))")
    } else {
      report("must be \(listed)", suggestion: others[text] ?? NearestKey.find(text, among: names))
    }
    return nil
  }

  /// The items of a list; one value alone is a list of one.
  func list() -> [Entry] {
    switch node.content {
    case .refused: return []
    case .scalar(let text, let plain):
      if plain, text.isEmpty { report("needs a value") }
      return text.isEmpty && plain ? [] : [self]
    case .mapping:
      report("must be a list")
      return []
    case .sequence(let nodes):
      return nodes.enumerated().map { index, node in
        Entry(node: node, keyMark: node.mark, path: KeyPath.item(index, of: path), problems: problems)
      }
    }
  }

  /// The name and value pairs of a mapping whose keys the user chooses.
  func pairs(of things: String) -> [(name: String, entry: Entry)] {
    switch node.content {
    case .refused: return []
    case .mapping(let pairs):
      return pairs.map { pair in
        let path = KeyPath.key(pair.key, of: path)
        return (pair.key, Entry(node: pair.value, keyMark: pair.keyMark, path: path, problems: problems))
      }
    case .scalar(let text, plain: true) where text.isEmpty:
      report("needs a value: a mapping of \(things)")
      return []
    case .scalar, .sequence:
      report("must be a mapping of \(things)")
      return []
    }
  }

  private func scalar(_ expected: String) -> (text: String, plain: Bool)? {
    switch node.content {
    case .refused: return nil
    case .scalar(let text, let plain):
      if text.isEmpty {
        report("needs a value: \(expected)")
        return nil
      }
      return (text, plain)
    case .sequence:
      report("must be \(expected), not a list")
      return nil
    case .mapping:
      report("must be \(expected), not a mapping")
      return nil
    }
  }
}
