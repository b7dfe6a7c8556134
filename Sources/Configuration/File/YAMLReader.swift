/// Bytes into one tree of nodes, refusing the parts of YAML in which a file says something else than it shows:
/// aliases, anchors, tags, several documents, a key given twice.
struct YAMLReader: ~Copyable {
  static let fileBytesMax = 1 << 20
  static let depthMax = 32

  private var events: YAMLEvents
  private let problems: ProblemList

  /// The document's root; nil when there is none, or when the file is not YAML (then it is reported).
  static func read(_ bytes: [UInt8], problems: ProblemList) -> YAMLNode? {
    guard bytes.count <= fileBytesMax else {
      problems.add(.wholeFile, "", "the file is larger than 1 MiB")
      return nil
    }
    let hasByteOrderMark = bytes.starts(with: [0xEF, 0xBB, 0xBF])
    return bytes.withUnsafeBufferPointer { input in
      let text = UnsafeBufferPointer(rebasing: input.dropFirst(hasByteOrderMark ? 3 : 0))
      guard let events = YAMLEvents(text) else {
        problems.add(.wholeFile, "", "there is not enough memory to read the file")
        return nil
      }
      var reader = YAMLReader(events: events, problems: problems)
      return reader.document()
    }
  }

  private init(events: consuming YAMLEvents, problems: ProblemList) {
    self.events = events
    self.problems = problems
  }

  private mutating func document() -> YAMLNode? {
    do {
      var root: YAMLNode?
      while true {
        let event = try events.next()
        switch event.kind {
        case .streamEnd: return root
        case .streamStart, .documentEnd: continue
        case .documentStart:
          guard root == nil else {
            problems.add(event.mark, "", "a second document begins here; the configuration is one document")
            return root
          }
          root = try node(from: try events.next(), path: "", depth: 1)
        default: preconditionFailure("libyaml opens a document before its nodes")
        }
      }
    } catch {
      problems.add(error.mark, "", "not valid YAML: \(error.message)")
      return nil
    }
  }

  private mutating func node(from event: YAMLEvent, path: String, depth: Int) throws(YAMLSyntaxError) -> YAMLNode {
    if event.hasAnchor { problems.add(event.mark, path, "anchors (&name) are not accepted; write the value out") }
    if event.hasTag {
      problems.add(event.mark, path, "tags (!name) are not accepted; values get their type from their key")
    }
    switch event.kind {
    case .scalar(let text, let plain):
      return YAMLNode(content: event.hasTag ? .refused : .scalar(text, plain: plain), mark: event.mark)
    case .alias:
      problems.add(event.mark, path, "aliases (*name) are not accepted; write the value out")
      return YAMLNode(content: .refused, mark: event.mark)
    case .sequenceStart, .mappingStart:
      guard depth <= Self.depthMax else {
        throw YAMLSyntaxError(message: "more than \(Self.depthMax) levels of nesting", mark: event.mark)
      }
      if case .mappingStart = event.kind { return try mapping(at: event.mark, path: path, depth: depth) }
      return try sequence(at: event.mark, path: path, depth: depth)
    default: preconditionFailure("libyaml closes what it opened")
    }
  }

  private mutating func sequence(at mark: SourceMark, path: String, depth: Int) throws(YAMLSyntaxError) -> YAMLNode {
    var items: [YAMLNode] = []
    while true {
      let event = try events.next()
      if case .sequenceEnd = event.kind { return YAMLNode(content: .sequence(items), mark: mark) }
      items.append(try node(from: event, path: KeyPath.item(items.count, of: path), depth: depth + 1))
    }
  }

  private mutating func mapping(at mark: SourceMark, path: String, depth: Int) throws(YAMLSyntaxError) -> YAMLNode {
    var pairs: [YAMLPair] = []
    var lineOfKey: [String: Int] = [:]
    while true {
      let event = try events.next()
      if case .mappingEnd = event.kind { return YAMLNode(content: .mapping(pairs), mark: mark) }
      let keyNode = try node(from: event, path: path, depth: depth + 1)
      guard case .scalar(let key, _) = keyNode.content else {
        if case .refused = keyNode.content {} else { problems.add(event.mark, path, "a key must be a plain name") }
        _ = try node(from: try events.next(), path: path, depth: depth + 1)
        continue
      }
      // `token: {s3cret}` is a mapping with a secret for a key: the path ends before it.
      let keyPath = KeyTable.holdsSecret(path) ? path : KeyPath.key(key, of: path)
      let value = try node(from: try events.next(), path: keyPath, depth: depth + 1)
      if let line = lineOfKey[key] {
        problems.add(event.mark, keyPath, "the key is here twice; the first is on line \(line)")
        continue
      }
      lineOfKey[key] = event.mark.line
      pairs.append(YAMLPair(key: key, keyMark: event.mark, value: value))
    }
  }
}
