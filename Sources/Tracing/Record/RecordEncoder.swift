import HTTPWire

/// Writes records as lines of JSON, members in a fixed order. One per loop; allocates nothing but what redaction needs.
struct RecordEncoder {
  /// More than the fixed parts before the method, or behind the target, ever take: names, numbers, punctuation.
  private static let fixedBytesMax = 1_024

  private var timestamp = Timestamp()
  private let redactor: TargetRedactor

  init(heldSecrets: HeldSecrets) { redactor = TargetRedactor(heldSecrets: heldSecrets) }

  mutating func append(_ record: borrowing RequestRecord, to out: inout ByteBuffer) {
    appendOpening(record, to: &out)
    if let method = record.method {
      out.append(",\"method\":\"")
      if Self.isPlain(method: method) {
        out.append(method)
        out.append(byte: UInt8(ascii: "\""))
      } else {
        append(untrusted: method, to: &out)
      }
    }
    if let target = record.target {
      out.append(",\"target\":\"")
      append(untrusted: target, to: &out)
    }
    appendOutcome(record, to: &out)
  }

  /// Everything up to the method.
  private mutating func appendOpening(_ record: borrowing RequestRecord, to out: inout ByteBuffer) {
    let subject = record.subject
    var line = LineCursor(out.reserve(Self.fixedBytesMax + (subject?.opening.count ?? 0) + record.caller.jsonCount))
    line.put("{\"time\":\"")
    timestamp.withText(of: record.wallNanoseconds) { line.put($0) }
    line.put("\",\"id\":\"")
    line.put(record.id)
    switch record.event {
    case .request: line.put("\",\"event\":\"request\"")
    case .oauth: line.put("\",\"event\":\"oauth\"")
    }
    subject?.opening.withUnsafeBytes { line.put($0) }
    record.caller?.put(named: ",\"caller\":", to: &line)
    out.commit(line.count)
  }

  /// Upper-case letters, fewer than any secret has.
  private static func isPlain(method: UnsafeRawBufferPointer) -> Bool {
    guard method.count < HeldSecrets.byteCountMin else { return false }
    for byte in method where byte &- UInt8(ascii: "A") >= 26 { return false }
    return true
  }

  private func append(untrusted text: UnsafeRawBufferPointer, to out: inout ByteBuffer) {
    redactor.withRedacted(text) { JSONWriter.appendEscaped($0, to: &out) }
    out.append(byte: UInt8(ascii: "\""))
  }

  /// Everything behind the target.
  private func appendOutcome(_ record: borrowing RequestRecord, to out: inout ByteBuffer) {
    let subject = record.subject
    var line = LineCursor(out.reserve(Self.fixedBytesMax + (subject?.upstream.count ?? 0) + record.error.jsonCount))
    subject?.upstream.withUnsafeBytes { line.put($0) }
    if let status = record.status {
      line.put(",\"status\":")
      line.put(decimal: UInt64(status))
    }
    if let source = record.source {
      line.put(source == .upstream ? ",\"source\":\"upstream\"" : ",\"source\":\"gateway\"")
    }
    line.put(",\"duration_ms\":")
    line.put(milliseconds: record.durationNanoseconds)
    if let nanoseconds = record.upstreamNanoseconds {
      line.put(",\"upstream_ms\":")
      line.put(milliseconds: nanoseconds)
    }
    line.put(",\"request_bytes\":")
    line.put(decimal: record.requestBytes)
    line.put(",\"response_bytes\":")
    line.put(decimal: record.responseBytes)
    line.put(",\"attempts\":")
    line.put(decimal: UInt64(record.attempts))
    Self.put(record.auth, to: &line)
    if let reused = record.reused { line.put(reused ? ",\"reused\":true" : ",\"reused\":false") }
    record.error?.put(named: ",\"error\":", to: &line)
    line.put("}\n")
    out.commit(line.count)
  }

  private static func put(_ auth: AuthEvents, to line: inout LineCursor) {
    guard !auth.isEmpty else { return }
    var separator: StaticString = ",\"auth\":[\""
    auth.forEach { event in
      line.put(separator)
      line.put(event.name)
      separator = "\",\""
    }
    line.put("\"]")
  }
}

extension LogLabel {
  fileprivate func put(named name: StaticString, to line: inout LineCursor) {
    line.put(name)
    json.withUnsafeBytes { line.put($0) }
  }
}

extension LogLabel? {
  fileprivate var jsonCount: Int { self?.json.count ?? 0 }
}
