import HTTPWire
import Tracing

/// The statuses the admin API uses. RFC 9110 §15
enum AdminStatus: UInt16 {
  case ok = 200
  case badRequest = 400
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case requestTimeout = 408
  case headTooLarge = 431

  var reason: StaticString {
    switch self {
    case .ok: "OK"
    case .badRequest: "Bad Request"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .requestTimeout: "Request Timeout"
    case .headTooLarge: "Request Header Fields Too Large"
    }
  }
}

/// One complete answer. Secrets the process holds are masked in its body, unless it is made to reveal one.
struct AdminAnswer {
  let status: AdminStatus
  let contentType: StaticString
  let body: [UInt8]
  /// The code of a problem, for the `Proofd-Error` field.
  let problem: StaticString?

  init(status: AdminStatus = .ok, contentType: StaticString, body: [UInt8], problem: StaticString? = nil) {
    self.status = status
    self.contentType = contentType
    self.body = HeldSecrets.process.mask(json: body)
    self.problem = problem
  }

  /// An answer whose body is a secret, because the user asked for exactly that.
  init(revealing json: JSONValue) {
    status = .ok
    contentType = "application/json"
    body = json.serialised() + [ASCII.lineFeed]
    problem = nil
  }

  init(_ json: JSONValue) {
    self.init(contentType: "application/json", body: json.serialised() + [ASCII.lineFeed])
  }

  /// Appends the head.
  func appendHead(to output: inout ByteBuffer, keepAlive: Bool) {
    Self.appendStart(status, contentType, to: &output)
    if let problem {
      output.append("\r\nProofd-Error: ")
      output.append(problem)
    }
    if status == .methodNotAllowed { output.append("\r\nAllow: GET, HEAD") }
    if !keepAlive { output.append("\r\nConnection: close") }
    output.append("\r\nContent-Length: ")
    output.append(decimal: UInt64(body.count))
    output.append("\r\n\r\n")
  }

  /// Appends the head of an answer whose end is not known yet.
  ///
  /// - Parameter chunked: false for HTTP/1.0, where the connection's end is the answer's.
  static func appendStreamHead(contentType: StaticString, chunked: Bool, to output: inout ByteBuffer) {
    appendStart(.ok, contentType, to: &output)
    output.append(chunked ? "\r\nTransfer-Encoding: chunked" : "\r\nConnection: close" as StaticString)
    output.append("\r\n\r\n")
  }

  private static func appendStart(_ status: AdminStatus, _ contentType: StaticString, to output: inout ByteBuffer) {
    output.append("HTTP/1.1 ")
    output.append(decimal: UInt64(status.rawValue))
    output.append(byte: ASCII.space)
    output.append(status.reason)
    output.append("\r\nContent-Type: ")
    output.append(contentType)
    output.append("\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff")
  }
}
