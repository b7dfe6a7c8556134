import HTTPWire

/// Rebuilds an upstream's response head for the client (design §4.7).
enum ResponseHeadWriter {
  /// Appends the head with its empty line.
  ///
  /// - Parameters:
  ///   - framing: how the body goes to the client.
  ///   - clientMinorVersion: an HTTP/1.0 client gets no chunks (RFC 9112 §7).
  ///   - keepAlive: whether the client's connection stays open.
  static func append(
    _ head: ResponseHead, in source: UnsafeRawBufferPointer, fields: FieldTable, framing: BodyFraming,
    clientMinorVersion: UInt8, keepAlive: Bool, to output: inout ByteBuffer
  ) {
    output.append("HTTP/1.1 ")
    output.append(decimal: UInt64(head.status))
    output.append(byte: 0x20)
    output.append(source[head.reason])
    output.append("\r\n")
    var lines = FieldLineCopy(from: source)
    var announcesTrailers = false
    for index in 0..<fields.count {
      let field = fields[index]
      let name = source[field.name]
      guard passes(field.id), !(head.connectionNamesFields && fields.isConnectionOption(name, in: source)) else {
        if field.id == .trailer { announcesTrailers = true }
        continue
      }
      lines.add(field, to: &output)
    }
    lines.finish(to: &output)
    if announcesTrailers, framing == .chunked, head.framing == .chunked {
      TrailerFields.appendAnnouncement(fields, in: source, to: &output) { _ in false }
    }
    switch framing {
    case .length(let count):
      output.append("Content-Length: ")
      output.append(decimal: count)
      output.append("\r\n")
    case .chunked: output.append("Transfer-Encoding: chunked\r\n")
    case .none:
      // What GET would have had (HEAD, 304), never for statuses that cannot have any (RFC 9110 §8.6).
      if let declared = head.declaredLength, head.status != 204 {
        output.append("Content-Length: ")
        output.append(decimal: declared)
        output.append("\r\n")
      }
    case .untilClose: break
    }
    if !keepAlive {
      output.append("Connection: close\r\n")
    } else if clientMinorVersion == 0 {
      output.append("Connection: keep-alive\r\n")
    }
    output.append("\r\n")
  }

  /// Hop-by-hop fields stay here, and a nonce is ours to use (RFC 9449 §8.2).
  private static func passes(_ id: FieldID) -> Bool {
    switch id {
    case .connection, .contentLength, .transferEncoding, .te, .trailer, .upgrade, .keepAlive, .proxyConnection,
      .proxyAuthenticate, .proxyAuthenticationInfo, .dpopNonce, .proofd:
      false
    default: true
    }
  }
}
