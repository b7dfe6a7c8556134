import HTTPWire

/// What a response head says, whoever has read it.
struct ResponseFacts: Equatable {
  var status: UInt16
  var reason: Bytes
  var minorVersion: UInt8
  var framing: BodyFraming
  var declaredLength: UInt64?
  var persistent: Bool
  var upgrade: Bool
  var connectionNamesFields: Bool
  var fields: FieldFacts

  /// What the parser under test has read.
  init(_ head: ResponseHead, _ table: FieldTable, in bytes: UnsafeRawBufferPointer) {
    status = head.status
    reason = Array(bytes[head.reason])
    minorVersion = head.minorVersion
    framing = head.framing
    declaredLength = head.declaredLength
    persistent = head.persistent
    upgrade = head.upgrade
    connectionNamesFields = head.connectionNamesFields
    fields = FieldFacts(table, in: bytes)
  }

  /// What the lines say, read with `Grammar`; nil when they are no response. RFC 9112 §4
  init?(_ lines: [Bytes], _ limits: HeadLimits, requestMethodIsHEAD: Bool) {
    let version = String(decoding: lines[0].prefix(9), as: UTF8.self)
    guard let minor = ["HTTP/1.0 ", "HTTP/1.1 "].firstIndex(of: version) else { return nil }
    let (code, rest) = (lines[0].dropFirst(9).prefix(3), lines[0].dropFirst(12))
    guard code.count == 3, code.allSatisfy(Grammar.isDigit), let status = UInt16(String(decoding: code, as: UTF8.self)),
      (100...599).contains(status), rest.first ?? 0x20 == 0x20, Grammar.isFieldValue(rest)
    else { return nil }
    guard let fields = FieldFacts(lines.dropFirst()), fields.areLegal(limits) else { return nil }
    guard let announced = fields.framing(minorVersion: UInt8(minor)) else { return nil }
    self.status = status
    reason = Array(rest.dropFirst())
    minorVersion = UInt8(minor)
    self.fields = fields
    if case .length(let length) = announced { declaredLength = length }
    // RFC 9112 §6.3
    if status < 200 || status == 204 {
      guard announced == .none || announced == .length(0) else { return nil }
      framing = .none
    } else if status == 304 || requestMethodIsHEAD {
      framing = .none
    } else {
      framing = announced == .none ? .untilClose : announced
    }
    persistent = framing != .untilClose && fields.isPersistent(minorVersion: minorVersion)
    upgrade = status == 101 && fields.asksToSwitch(minorVersion: minorVersion)
    connectionNamesFields = fields.connectionNamesFields
  }

  var serialised: Bytes {
    Bytes("HTTP/1.\(minorVersion) \(status) ".utf8) + reason + Bytes("\r\n".utf8) + fields.serialised
      + Bytes("\r\n".utf8)
  }
}

extension ResponseFacts: CustomStringConvertible {
  var description: String {
    let flags = "persistent \(persistent) upgrade \(upgrade) names \(connectionNamesFields)"
    return "\(text(serialised)) \(framing) declared \(declaredLength.map(String.init) ?? "-") \(flags)"
  }
}

/// Finds and parses a response head, as the answer to GET and to HEAD, and holds every answer to a slow reading of the
/// same bytes.
enum ResponseHeadTarget {
  /// Small enough for the fuzzer to pass.
  static let limits = HeadLimits(headBytesMax: 1_000, fieldCountMax: 24)

  static func run(_ bytes: Bytes) {
    let head = HeadLines.checkedHead(of: bytes)
    for requestMethodIsHEAD in [false, true] {
      // The parser may not rely on the search: what the search would not pass is refused.
      if head?.count != bytes.count {
        check(parse(bytes, limits, requestMethodIsHEAD) == nil, "accepted without its boundary")
      }
      guard let head, case .complete(let lines, let byteCount) = HeadLines(head) else { continue }
      let isSmall = byteCount <= limits.headBytesMax
      let expected = isSmall ? ResponseFacts(lines, limits, requestMethodIsHEAD: requestMethodIsHEAD) : nil
      let facts = parse(head, limits, requestMethodIsHEAD)
      check(facts, equals: expected, "parser and grammar differ")
      guard let facts else { continue }
      let roomy = HeadLimits(headBytesMax: 2 * limits.headBytesMax, fieldCountMax: limits.fieldCountMax)
      let again = parse(facts.serialised, roomy, requestMethodIsHEAD)
      check(again, equals: facts, "serialised and parsed again it differs")
    }
  }

  private static func parse(_ bytes: Bytes, _ limits: HeadLimits, _ requestMethodIsHEAD: Bool) -> ResponseFacts? {
    withExactCopy(of: bytes) { bytes in
      let table = FieldTable(capacity: limits.fieldCountMax)
      let result = ResponseHead.parse(
        bytes, limits: limits, fields: table, requestMethodIsHEAD: requestMethodIsHEAD)
      guard case .success(let head) = result else { return nil }
      let facts = ResponseFacts(head, table, in: bytes)
      facts.fields.checkTable(table, in: bytes)
      let interim: Set<UInt16> = Set(100...199).subtracting([101])
      check(head.isInterim, equals: interim.contains(head.status), "\(head.status) is interim")
      return facts
    }
  }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResponseHead(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  ResponseHeadTarget.run(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
