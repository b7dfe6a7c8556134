import HTTPTransport
import HTTPWire

/// The ends of both bodies, and the trailer fields that pass there (RFC 9110 §6.5): when both sides of a body are
/// chunked, and only then.
extension Exchange {
  func connection(
    _ connection: ServerConnection, receivedTrailers bytes: UnsafeRawBufferPointer, fields: FieldTable
  ) {
    guard let route, template.framing == .chunked else { return }
    body.keepTrailers { lines in
      TrailerFields.append(fields, in: bytes, to: &lines) { RequestTemplate.isRemovedInAnySpelling($0, route) }
    }
  }

  func endSending(_ stream: any UpstreamStream) {
    if template.framing == .chunked { _ = stream.sendBody { body.appendEnd(to: &$0) } }
    stream.finishSending()
  }

  func stream(_ stream: any UpstreamStream, receivedTrailers bytes: UnsafeRawBufferPointer, fields: FieldTable) {
    TrailerFields.append(fields, in: bytes, to: &responseTrailers) { _ in false }
  }

  func finishDelivery() {
    if responseFraming == .chunked {
      client?.respond { RequestBody.appendLastChunk(trailers: responseTrailers, to: &$0) }
    }
    complete(keepAlive: clientPersistent && !gateway.draining)
  }
}
