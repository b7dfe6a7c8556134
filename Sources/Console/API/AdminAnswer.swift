import HTTPWire
import Tracing

/// The statuses the admin API uses. RFC 9110 §15, RFC 4918 §11, RFC 6585 §6
enum AdminStatus: UInt16 {
  case ok = 200
  case noContent = 204
  case badRequest = 400
  case forbidden = 403
  case notFound = 404
  case methodNotAllowed = 405
  case requestTimeout = 408
  case conflict = 409
  case contentTooLarge = 413
  case unsupportedMediaType = 415
  case unprocessableContent = 422
  case locked = 423
  case headTooLarge = 431
  case internalError = 500
  case badGateway = 502
  case serviceUnavailable = 503
  /// A login is needed; 401 would ask for credentials of HTTP.
  case networkAuthenticationRequired = 511

  var reason: StaticString {
    switch self {
    case .ok: "OK"
    case .noContent: "No Content"
    case .badRequest: "Bad Request"
    case .forbidden: "Forbidden"
    case .notFound: "Not Found"
    case .methodNotAllowed: "Method Not Allowed"
    case .requestTimeout: "Request Timeout"
    case .conflict: "Conflict"
    case .contentTooLarge: "Content Too Large"
    case .unsupportedMediaType: "Unsupported Media Type"
    case .unprocessableContent: "Unprocessable Content"
    case .locked: "Locked"
    case .headTooLarge: "Request Header Fields Too Large"
    case .internalError: "Internal Server Error"
    case .badGateway: "Bad Gateway"
    case .serviceUnavailable: "Service Unavailable"
    case .networkAuthenticationRequired: "Network Authentication Required"
    }
  }
}

/// One complete answer. Secrets the process holds are masked in its body, unless it is made to reveal one.
package struct AdminAnswer: Sendable {
  let status: AdminStatus
  let contentType: StaticString
  package let body: [UInt8]
  /// The code of a problem, for the `Proofd-Error` field; a token.
  let problem: String?
  /// The methods the resource has, for a request with another one.
  var allow: [AdminMethod] = []

  init(status: AdminStatus = .ok, contentType: StaticString, body: [UInt8], problem: String? = nil) {
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

  /// It is done, and there is nothing to say about it.
  static let done = AdminAnswer(status: .noContent, contentType: "", body: [])

  package var statusCode: UInt16 { status.rawValue }

  /// Appends the head.
  func appendHead(to output: inout ByteBuffer, keepAlive: Bool) {
    Self.appendStart(status, contentType, to: &output)
    if let problem {
      output.append("\r\nProofd-Error: ")
      output.append(problem)
    }
    if !allow.isEmpty {
      output.append("\r\nAllow: ")
      output.append(allow.map(\.rawValue).joined(separator: ", "))
    }
    if !keepAlive { output.append("\r\nConnection: close") }
    if status != .noContent {
      output.append("\r\nContent-Length: ")
      output.append(decimal: UInt64(body.count))
    }
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
    if status != .noContent {
      output.append("\r\nContent-Type: ")
      output.append(contentType)
    }
    output.append("\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff")
  }
}
