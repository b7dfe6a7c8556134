import HTTPWire

/// What a head parser made of a text, in a form two runs can be compared by.
struct ParsedHead: Equatable, CustomStringConvertible {
  var summary: String
  var fields: [String]

  var description: String { ([summary] + fields).joined(separator: " | ") }
}

/// Bytes from text in which every character below U+0100 is one byte.
func latin1(_ text: String) -> [UInt8] {
  text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
}

func text(_ bytes: UnsafeRawBufferPointer) -> String {
  String(decoding: bytes, as: UTF8.self)
}

/// Finds the end of a head in `bytes`, fed in pieces that end at `cuts`, then hands the head to `parse`.
func receive<Parsed>(
  _ bytes: [UInt8], cuts: [Int], parse: (UnsafeRawBufferPointer) -> Result<Parsed, HeadViolation>
) -> Result<Parsed, HeadViolation>? {
  var scanned = 0
  for cut in cuts + [bytes.count] {
    let received = Array(bytes[..<cut])
    let result: Result<Parsed, HeadViolation>? = received.withUnsafeBytes {
      switch HeadBoundary.find($0, scanned: &scanned) {
      case .incomplete: nil
      case .violation(let violation): .failure(violation)
      case .end(let headBytes): parse($0.slice(0..<headBytes))
      }
    }
    if let result { return result }
  }
  return nil
}

func names(_ fields: FieldTable, _ head: UnsafeRawBufferPointer) -> [String] {
  (0..<fields.count).map { "\(text(head[fields[$0].name]))=\(text(head[fields[$0].value]))" }
}

func request(
  _ bytes: [UInt8], cuts: [Int] = [], limits: HeadLimits = HeadLimits()
) -> Result<ParsedHead, HeadViolation>? {
  let fields = FieldTable(capacity: 128)
  return receive(bytes, cuts: cuts) { head in
    RequestHead.parse(head, limits: limits, fields: fields).map { parsed in
      let host = parsed.host.map { text(head[$0]) } ?? "-"
      let flags = [
        parsed.persistent ? "persistent" : "", parsed.expectsContinue ? "continue" : "",
        parsed.upgrade ? "upgrade" : "", parsed.connectionNamesFields ? "names" : "",
      ].filter { !$0.isEmpty }
      let line = "\(text(head[parsed.method])) \(text(head[parsed.target])) 1.\(parsed.minorVersion)"
      return ParsedHead(
        summary: "\(line) \(host) \(parsed.framing) \(flags.joined(separator: ","))", fields: names(fields, head))
    }
  }
}

func response(
  _ bytes: [UInt8], cuts: [Int] = [], isHEAD: Bool = false
) -> Result<ParsedHead, HeadViolation>? {
  let fields = FieldTable(capacity: 128)
  return receive(bytes, cuts: cuts) { head in
    ResponseHead.parse(head, limits: HeadLimits(), fields: fields, requestMethodIsHEAD: isHEAD).map { parsed in
      let flags = [parsed.persistent ? "persistent" : "", parsed.upgrade ? "upgrade" : ""].filter { !$0.isEmpty }
      let line = "1.\(parsed.minorVersion) \(parsed.status) '\(text(head[parsed.reason]))'"
      return ParsedHead(
        summary: "\(line) \(parsed.framing) \(flags.joined(separator: ","))", fields: names(fields, head))
    }
  }
}

extension Result {
  /// Why it failed; nil for a success.
  var violation: Failure? {
    if case .failure(let violation) = self { return violation }
    return nil
  }
}
