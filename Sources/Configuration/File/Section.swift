/// A mapping with keys of ours. Making one reports every key that is not ours.
struct Section {
  let path: String
  /// Where the mapping's own key stands: the place to say that something is missing.
  let keyMark: SourceMark
  let problems: ProblemList
  private let keys: SectionKeys
  private let entries: [String: Entry]

  /// Nil when the value is no mapping; that is reported.
  ///
  /// - Parameters:
  ///   - others: mappings of the same kind whose keys do not belong here, with what they belong to.
  init?(_ entry: Entry, _ keys: SectionKeys, others: [(keys: SectionKeys, owner: String)] = []) {
    path = entry.path
    keyMark = entry.keyMark
    problems = entry.problems
    self.keys = keys
    guard case .mapping(let pairs) = entry.node.content else {
      if case .refused = entry.node.content {
      } else {
        entry.report("must be a mapping with keys such as \(keys.known.prefix(3).joined(separator: ", "))")
      }
      return nil
    }
    var entries: [String: Entry] = [:]
    for pair in pairs {
      let path = KeyPath.key(pair.key, of: entry.path)
      if keys.known.contains(pair.key) {
        entries[pair.key] = Entry(node: pair.value, keyMark: pair.keyMark, path: path, problems: problems)
      } else if keys.later.contains(pair.key) {
        problems.add(pair.keyMark, path, LaterVersions.message)
      } else if let other = others.first(where: { $0.keys.known.contains(pair.key) }) {
        problems.add(pair.keyMark, path, "is a key of \(other.owner) only")
      } else {
        let shown = KeyTable.holdsSecret(entry.path) ? entry.path : path
        let nearest = NearestKey.find(pair.key, among: keys.known + keys.later)
        problems.add(pair.keyMark, shown, "unknown key", suggestion: nearest)
      }
    }
    self.entries = entries
  }

  subscript(key: String) -> Entry? {
    precondition(keys.known.contains(key), "a key that is read must be in KeyTable")
    return entries[key]
  }

  /// The entry of a key that has to be there; its absence is reported.
  func required(_ key: String, _ why: String = "is required") -> Entry? {
    if let entry = self[key] { return entry }
    problems.add(keyMark, KeyPath.key(key, of: path), why)
    return nil
  }

  func boolean(_ key: String, default value: Bool) -> Bool { self[key]?.boolean() ?? value }
}
