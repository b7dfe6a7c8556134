import HTTPWire

/// Which fields may come behind a body. RFC 9110 §6.5.1
///
/// A field that a recipient merges into the head after it has acted on the head must not be one that it should have
/// acted on: framing, routing, authentication, conditions and controls of a request, control of a response, the format
/// of its content.
enum TrailerFields {
  /// Appends the lines of those that may pass.
  ///
  /// - Parameter isRemoved: whether a name is not to pass for another reason.
  static func append(
    _ fields: FieldTable, in source: UnsafeRawBufferPointer, to output: inout ByteBuffer,
    isRemoved: (UnsafeRawBufferPointer) -> Bool
  ) {
    for index in 0..<fields.count {
      let field = fields[index]
      let name = source[field.name]
      guard mayPass(name, field.id), !isRemoved(name) else { continue }
      output.append(name)
      output.append(": ")
      output.append(source[field.value])
      output.append("\r\n")
    }
  }

  /// Passes on that a client takes trailers, and which ones it will send. RFC 9110 §10.1.4, §6.6.2
  ///
  /// - Parameter isRemoved: as with `append`.
  static func appendWishes(
    of head: RequestHead, _ fields: FieldTable, in source: UnsafeRawBufferPointer, to output: inout ByteBuffer,
    isRemoved: (UnsafeRawBufferPointer) -> Bool
  ) {
    if head.minorVersion == 1, asksForTrailers(fields, in: source) {
      output.append("TE: trailers\r\nConnection: TE\r\n")
    }
    if head.framing == .chunked { appendAnnouncement(fields, in: source, to: &output, isRemoved: isRemoved) }
  }

  private static func asksForTrailers(_ fields: FieldTable, in source: UnsafeRawBufferPointer) -> Bool {
    for index in 0..<fields.count where fields[index].id == .te {
      if CommaList(source[fields[index].value]).contains(caseInsensitively: "trailers") { return true }
    }
    return false
  }

  /// Appends one `Trailer` field with those announced names that may pass. RFC 9110 §6.6.2
  static func appendAnnouncement(
    _ fields: FieldTable, in source: UnsafeRawBufferPointer, to output: inout ByteBuffer,
    isRemoved: (UnsafeRawBufferPointer) -> Bool
  ) {
    var isFirst = true
    for index in 0..<fields.count {
      let field = fields[index]
      guard field.id == .trailer, !fields.isConnectionOption(source[field.name], in: source) else { continue }
      for name in CommaList(source[field.value]) where mayPass(name, FieldID(name: name)) && !isRemoved(name) {
        output.append(isFirst ? "Trailer: " : ", ")
        output.append(name)
        isFirst = false
      }
    }
    if !isFirst { output.append("\r\n") }
  }

  private static func mayPass(_ name: UnsafeRawBufferPointer, _ id: FieldID) -> Bool {
    // What the gateway knows by name concerns a hop, a credential, or how a message is to be taken.
    guard id == .other else { return false }
    return FoldedName.withFolded(name) { FieldID(name: $0) == .other && isHarmless($0) }
  }

  private static func isHarmless(_ name: UnsafeRawBufferPointer) -> Bool {
    !families.contains { name.bytes(startCaseInsensitivelyWith: $0) }
      && !others.contains { name.bytes(equalCaseInsensitively: $0) }
  }

  private static let families: [StaticString] = [
    "proxy-", "if-", "sec-", "x-forwarded-", "x-http-method", "x-original-",
  ]

  private static let others: [StaticString] = [
    "accept-charset", "accept-language", "age", "allow", "alt-svc", "clear-site-data", "content-disposition",
    "content-language", "content-security-policy", "early-data", "expires", "http2-settings", "max-forwards", "pragma",
    "strict-transport-security", "vary", "warning", "x-method-override", "x-real-ip", "x-rewrite-url",
  ]
}
