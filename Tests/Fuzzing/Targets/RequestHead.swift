import HTTPWire

/// What a request head says, whoever has read it.
struct RequestFacts: Equatable {
  var method: Bytes
  var target: Bytes
  var minorVersion: UInt8
  var host: Bytes?
  var framing: BodyFraming
  var persistent: Bool
  var expectsContinue: Bool
  var upgrade: Bool
  var connectionNamesFields: Bool
  var fields: FieldFacts

  /// What the parser under test has read.
  init(_ head: RequestHead, _ table: FieldTable, in bytes: UnsafeRawBufferPointer) {
    method = Array(bytes[head.method])
    target = Array(bytes[head.target])
    minorVersion = head.minorVersion
    host = head.host.map { Array(bytes[$0]) }
    framing = head.framing
    persistent = head.persistent
    expectsContinue = head.expectsContinue
    upgrade = head.upgrade
    connectionNamesFields = head.connectionNamesFields
    fields = FieldFacts(table, in: bytes)
  }

  /// What the lines say, read with `Grammar`; nil when they are no request. RFC 9112 §3
  init?(_ lines: [Bytes], _ limits: HeadLimits) {
    let parts = lines[0].split(separator: 0x20, omittingEmptySubsequences: false).map { Array($0) }
    guard parts.count == 3, Grammar.isToken(parts[0]), parts[0].count <= HeadLimits.methodBytesMax else { return nil }
    guard (1...limits.targetBytesMax).contains(parts[1].count),
      parts[1].allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") })
    else { return nil }
    guard let minor = ["HTTP/1.0", "HTTP/1.1"].firstIndex(of: String(decoding: parts[2], as: UTF8.self)) else {
      return nil
    }
    minorVersion = UInt8(minor)
    guard let fields = FieldFacts(lines.dropFirst()), fields.areLegal(limits) else { return nil }
    guard let framing = fields.framing(minorVersion: minorVersion) else { return nil }
    host = fields.values(of: "host").first
    guard host.map(Grammar.isHostAndPort) ?? (minorVersion == 0) else { return nil }
    (method, target) = (parts[0], parts[1])
    self.framing = framing
    persistent = fields.isPersistent(minorVersion: minorVersion)
    expectsContinue = minorVersion == 1 && !fields.values(of: "expect").isEmpty
    upgrade = fields.asksToSwitch(minorVersion: minorVersion)
    connectionNamesFields = fields.connectionNamesFields
    self.fields = fields
  }

  var serialised: Bytes {
    method + [0x20] + target + Bytes(" HTTP/1.\(minorVersion)\r\n".utf8) + fields.serialised + Bytes("\r\n".utf8)
  }
}

extension RequestFacts: CustomStringConvertible {
  var description: String {
    let host = host.map { text($0) } ?? "-"
    let flags = "persistent \(persistent) continue \(expectsContinue) upgrade \(upgrade) names \(connectionNamesFields)"
    return "\(text(serialised)) host \(host) \(framing) \(flags)"
  }
}

/// A request target in parts, as text.
enum TargetFacts: Equatable {
  case origin(path: Bytes, query: Bytes?)
  case absolute(scheme: Bytes, authority: Bytes, path: Bytes, query: Bytes?)
  case authority(Bytes)
  case asterisk

  init(_ target: RequestTarget, in bytes: UnsafeRawBufferPointer) {
    func text(_ range: ByteRange) -> Bytes { Array(bytes[range]) }
    switch target {
    case .origin(let path, let query): self = .origin(path: text(path), query: query.map(text))
    case .absolute(let scheme, let authority, let path, let query):
      self = .absolute(
        scheme: text(scheme), authority: text(authority), path: text(path), query: query.map(text))
    case .authority(let range): self = .authority(text(range))
    case .asterisk: self = .asterisk
    }
  }

  /// RFC 9112 §3.2
  init?(_ request: RequestFacts) {
    let target = request.target
    if request.method == Array("CONNECT".utf8) {
      guard Grammar.isHostAndPort(target) else { return nil }
      self = .authority(target)
      return
    }
    if request.method == Array("OPTIONS".utf8), target == Array("*".utf8) {
      self = .asterisk
      return
    }
    let beforeQuery = target.prefix { $0 != UInt8(ascii: "?") }
    let query = beforeQuery.count < target.count ? Array(target[(beforeQuery.count + 1)...]) : nil
    if target.first == UInt8(ascii: "/") {
      guard Self.isEncoded(beforeQuery) else { return nil }
      self = .origin(path: Array(beforeQuery), query: query)
      return
    }
    let scheme = beforeQuery.prefix { $0 != UInt8(ascii: ":") }
    guard let first = scheme.first, Grammar.isLetter(first),
      scheme.allSatisfy({ Grammar.isAlphanumeric($0) || "+-.".utf8.contains($0) }),
      beforeQuery.dropFirst(scheme.count).starts(with: "://".utf8)
    else { return nil }
    let rest = beforeQuery.dropFirst(scheme.count + 3)
    let authority = Array(rest.prefix { $0 != UInt8(ascii: "/") })
    let path = rest.dropFirst(authority.count)
    guard Grammar.isHostAndPort(authority), Self.isEncoded(path) else { return nil }
    if let host = request.host, Grammar.lowercased(host) != Grammar.lowercased(authority) { return nil }
    self = .absolute(scheme: Array(scheme), authority: authority, path: Array(path), query: query)
  }

  /// RFC 3986 §2.1
  private static func isEncoded(_ path: some Collection<UInt8>) -> Bool {
    let pieces = path.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false).dropFirst()
    return pieces.allSatisfy { $0.count >= 2 && $0.prefix(2).allSatisfy(Grammar.isHexDigit) }
  }

  var path: Bytes? {
    switch self {
    case .origin(let path, _), .absolute(_, _, let path, _): path
    case .authority, .asterisk: nil
    }
  }
}

/// Finds, parses and takes apart a request head, and holds every answer to a slow reading of the same bytes.
enum RequestHeadTarget {
  /// Small enough for the fuzzer to pass.
  static let limits = HeadLimits(headBytesMax: 1_000, fieldCountMax: 24, targetBytesMax: 256)

  static func run(_ bytes: Bytes) {
    let head = HeadLines.checkedHead(of: bytes)
    // The parser may not rely on the search: what the search would not pass is refused.
    if head?.count != bytes.count {
      check(parse(bytes, limits) == nil, "accepted without its boundary")
    }
    guard let head, case .complete(let lines, let byteCount) = HeadLines(head) else { return }
    let expected = byteCount <= limits.headBytesMax ? RequestFacts(lines, limits) : nil
    let facts = parse(head, limits)
    check(facts, equals: expected, "parser and grammar differ")
    guard let facts else { return }
    let roomy = HeadLimits(headBytesMax: 2 * limits.headBytesMax, fieldCountMax: limits.fieldCountMax)
    check(parse(facts.serialised, roomy), equals: facts, "serialised and parsed again it differs")
  }

  private static func parse(_ bytes: Bytes, _ limits: HeadLimits) -> RequestFacts? {
    withExactCopy(of: bytes) { bytes in
      let table = FieldTable(capacity: limits.fieldCountMax)
      guard case .success(let head) = RequestHead.parse(bytes, limits: limits, fields: table) else { return nil }
      let facts = RequestFacts(head, table, in: bytes)
      facts.fields.checkTable(table, in: bytes)
      checkTarget(head, facts, in: bytes)
      return facts
    }
  }

  private static func checkTarget(_ head: RequestHead, _ facts: RequestFacts, in bytes: UnsafeRawBufferPointer) {
    let target =
      switch RequestTarget.parse(bytes, of: head) {
      case .success(let target): TargetFacts(target, in: bytes)
      case .failure: nil as TargetFacts?
      }
    check(target, equals: TargetFacts(facts), "target and grammar differ")
    guard let path = target?.path else { return }
    let isPresent = withExactCopy(of: path) { DotSegments.isPresent(in: $0) }
    check(isPresent, equals: Grammar.hasDotSegments(path), "dot segments of \(text(path))")
  }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzRequestHead(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  RequestHeadTarget.run(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
