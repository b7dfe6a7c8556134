import HTTPWire

/// Writes records as lines of JSON, members in a fixed order. One per loop; allocates nothing but what redaction needs.
struct RecordEncoder {
  private var timestamp = Timestamp()
  private let redactor: TargetRedactor

  init(heldSecrets: HeldSecrets) { redactor = TargetRedactor(heldSecrets: heldSecrets) }

  mutating func append(_ record: borrowing RequestRecord, to out: inout ByteBuffer) {
    appendOpening(record, to: &out)
    append(record.route, named: ",\"route\":", to: &out)
    append(record.credential, named: ",\"credential\":", to: &out)
    append(record.caller, named: ",\"caller\":", to: &out)
    append(untrusted: record.method, named: ",\"method\":\"", to: &out)
    append(untrusted: record.target, named: ",\"target\":\"", to: &out)
    append(record.upstream, named: ",\"upstream\":", to: &out)
    if let status = record.status {
      out.append(",\"status\":")
      out.append(decimal: UInt64(status))
    }
    if let source = record.source {
      out.append(source == .upstream ? ",\"source\":\"upstream\"" : ",\"source\":\"gateway\"" as StaticString)
    }
    out.append(",\"duration_ms\":")
    append(milliseconds: record.durationNanoseconds, to: &out)
    if let nanoseconds = record.upstreamNanoseconds {
      out.append(",\"upstream_ms\":")
      append(milliseconds: nanoseconds, to: &out)
    }
    out.append(",\"request_bytes\":")
    out.append(decimal: record.requestBytes)
    out.append(",\"response_bytes\":")
    out.append(decimal: record.responseBytes)
    out.append(",\"attempts\":")
    out.append(decimal: UInt64(record.attempts))
    append(record.auth, to: &out)
    if let reused = record.reused { out.append(reused ? ",\"reused\":true" : ",\"reused\":false" as StaticString) }
    append(record.error, named: ",\"error\":", to: &out)
    out.append("}\n")
  }

  private mutating func appendOpening(_ record: borrowing RequestRecord, to out: inout ByteBuffer) {
    out.append("{\"time\":\"")
    timestamp.withText(of: record.wallNanoseconds) { out.append($0) }
    out.append("\",\"id\":\"")
    record.id.write(to: out.reserve(RequestID.characterCount))
    out.commit(RequestID.characterCount)
    switch record.event {
    case .request: out.append("\",\"event\":\"request\"")
    case .oauth: out.append("\",\"event\":\"oauth\"")
    }
  }

  private func append(_ label: LogLabel?, named name: StaticString, to out: inout ByteBuffer) {
    guard let label else { return }
    out.append(name)
    out.append(label.json)
  }

  private func append(untrusted text: UnsafeRawBufferPointer?, named name: StaticString, to out: inout ByteBuffer) {
    guard let text else { return }
    out.append(name)
    redactor.withRedacted(text) { JSONWriter.appendEscaped($0, to: &out) }
    out.append("\"")
  }

  /// Milliseconds with up to three decimals.
  private func append(milliseconds nanoseconds: UInt64, to out: inout ByteBuffer) {
    let (whole, micro) = (nanoseconds / 1_000).quotientAndRemainder(dividingBy: 1_000)
    out.append(decimal: whole)
    guard micro > 0 else { return }
    out.append(byte: UInt8(ascii: "."))
    var rest = micro
    var unit: UInt64 = 100
    while rest > 0 {
      out.append(byte: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest / unit))
      rest %= unit
      unit /= 10
    }
  }

  private func append(_ auth: AuthEvents, to out: inout ByteBuffer) {
    guard !auth.isEmpty else { return }
    var separator: StaticString = ",\"auth\":[\""
    auth.forEach { event in
      out.append(separator)
      out.append(event.name)
      separator = "\",\""
    }
    out.append("\"]")
  }
}
