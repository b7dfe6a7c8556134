import HTTPWire

/// The trailer lines of the message that is being read, kept until they are whole. Empty, and without memory, for
/// messages that have none.
struct TrailerBuffer: ~Copyable {
  private var lines = ByteBuffer()
  /// What the message's head calls this hop's own, as one list. RFC 9110 §7.6.1
  private var options = ByteBuffer()

  var isEmpty: Bool { lines.isEmpty }

  /// A chunked body begins.
  ///
  /// - Parameter namesFields: whether the head's `Connection` names other fields.
  mutating func begin(_ head: UnsafeRawBufferPointer, _ fields: FieldTable, namesFields: Bool) {
    if lines.capacity > 0 || options.capacity > 0 { release() }
    guard namesFields else { return }
    for index in 0..<fields.count where fields[index].id == .connection {
      options.append(head[fields[index].value])
      options.append(",")
    }
  }

  /// Adds lines, or parts of them, that the chunk scanner has found to be well-formed and few.
  mutating func append(_ bytes: UnsafeRawBufferPointer) { lines.append(bytes) }

  /// The lines are whole: `body` gets those that are not this hop's own, and their fields.
  ///
  /// - Returns: why they are refused instead.
  mutating func finish(
    limits: HeadLimits, fields: FieldTable, _ body: (UnsafeRawBufferPointer) -> Void
  ) -> ChunkViolation? {
    defer { release() }
    lines.append("\r\n")
    if let refused = parse(limits, fields) { return refused }
    if !options.isEmpty {
      removeOptions(fields)
      if let refused = parse(limits, fields) { return refused }
    }
    lines.withUnsafeBytes { body($0) }
    return nil
  }

  private func parse(_ limits: HeadLimits, _ fields: FieldTable) -> ChunkViolation? {
    switch lines.withUnsafeBytes({ TrailerSection.parse($0, limits: limits, fields: fields) }) {
    case .success: nil
    case .failure(let violation): violation.tooLarge ? .trailersTooLarge : .trailer
    }
  }

  private mutating func removeOptions(_ fields: FieldTable) {
    var rest = ByteBuffer()
    lines.withUnsafeBytes { bytes in
      options.withUnsafeBytes { options in
        for index in 0..<fields.count {
          let field = fields[index]
          guard !CommaList(options).contains(caseInsensitively: bytes[field.name]) else { continue }
          rest.append(bytes[field.name])
          rest.append(":")
          rest.append(bytes[field.value])
          rest.append("\r\n")
        }
      }
    }
    rest.append("\r\n")
    swap(&rest, &lines)
  }

  mutating func release() {
    lines.release()
    options.release()
  }
}
