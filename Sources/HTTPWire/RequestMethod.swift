/// The methods the gateway treats specially; everything else is `other`. Names are case-sensitive. RFC 9110 §9.1
package enum RequestMethod: UInt8, Sendable {
  case other = 0
  case get, head, post, put, delete, options, patch, query
  case trace, track, connect

  package init(_ name: UnsafeRawBufferPointer) {
    self = RequestMethod.recognise(name)
  }

  private static func recognise(_ name: UnsafeRawBufferPointer) -> RequestMethod {
    switch name.count {
    case 3:
      if name.bytes(equal: "GET") { return .get }
      if name.bytes(equal: "PUT") { return .put }
    case 4:
      if name.bytes(equal: "POST") { return .post }
      if name.bytes(equal: "HEAD") { return .head }
    case 5:
      if name.bytes(equal: "PATCH") { return .patch }
      if name.bytes(equal: "QUERY") { return .query }
      if name.bytes(equal: "TRACE") { return .trace }
      if name.bytes(equal: "TRACK") { return .track }
    case 6: if name.bytes(equal: "DELETE") { return .delete }
    case 7:
      if name.bytes(equal: "OPTIONS") { return .options }
      if name.bytes(equal: "CONNECT") { return .connect }
    default: break
    }
    return .other
  }

  /// Whether sending it twice has the effect of sending it once. RFC 9110 §9.2.2
  package var isIdempotent: Bool {
    switch self {
    case .get, .head, .put, .delete, .options, .trace, .query: true
    case .other, .post, .patch, .track, .connect: false
    }
  }
}
