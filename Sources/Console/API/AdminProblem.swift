import HTTPWire

/// What the admin API refuses, and how it says so: the one place where its errors become answers. RFC 9457
///
/// Nothing of the request is echoed.
enum AdminProblem: Error, Equatable {
  case badRequest(String)
  case badParameter(String)
  case callerUnknown
  case crossSiteRefused
  case notFound
  case methodNotAllowed
  case requestTimeout
  case headTooLarge(String)

  var status: AdminStatus {
    switch self {
    case .badRequest, .badParameter: .badRequest
    case .callerUnknown, .crossSiteRefused: .forbidden
    case .notFound: .notFound
    case .methodNotAllowed: .methodNotAllowed
    case .requestTimeout: .requestTimeout
    case .headTooLarge: .headTooLarge
    }
  }

  /// Stable; clients tell problems apart by it.
  var code: StaticString {
    switch self {
    case .badRequest: "bad_request"
    case .badParameter: "bad_parameter"
    case .callerUnknown: "caller_unknown"
    case .crossSiteRefused: "cross_site_refused"
    case .notFound: "not_found"
    case .methodNotAllowed: "method_not_allowed"
    case .requestTimeout: "request_timeout"
    case .headTooLarge: "head_too_large"
    }
  }

  private var title: StaticString {
    switch self {
    case .badRequest: "The request cannot be understood"
    case .badParameter: "A query parameter is wrong"
    case .callerUnknown: "This caller may not use the admin API"
    case .crossSiteRefused: "Web pages may not use the admin API"
    case .notFound: "There is no such resource"
    case .methodNotAllowed: "The resource does not have this method"
    case .requestTimeout: "The request did not arrive in time"
    case .headTooLarge: "The request head is too large"
    }
  }

  private var detail: String {
    switch self {
    case .badRequest(let detail), .badParameter(let detail), .headTooLarge(let detail): detail
    case .callerUnknown: "The control socket serves the user who runs proofd, and nobody else."
    case .crossSiteRefused: "The request has an Origin field."
    case .notFound: "The path is none of the admin API."
    case .methodNotAllowed: "The resource can be read only."
    case .requestTimeout: "The rest of the request did not arrive in time."
    }
  }

  private var next: StaticString {
    switch self {
    case .badRequest, .badParameter, .requestTimeout, .headTooLarge: "Correct the request."
    case .callerUnknown: "Run the command as the user who runs proofd."
    case .crossSiteRefused: "Call the admin API from a program."
    case .notFound: "The resources are /v1/status, /v1/routes and /v1/records."
    case .methodNotAllowed: "Use GET."
    }
  }

  /// The answer, `application/problem+json` with the members of every problem proofd reports.
  var answer: AdminAnswer {
    var body = ByteBuffer()
    JSONWriter.append(
      .object([
        ("type", .string("urn:proofd:error:\(code)")), ("title", .string("\(title)")),
        ("status", .number("\(status.rawValue)")), ("detail", .string(detail)), ("code", .string("\(code)")),
        ("next", .string("\(next)")),
      ]), to: &body)
    body.append("\n")
    return AdminAnswer(status: status, contentType: "application/problem+json", body: body.copy(), problem: code)
  }
}
