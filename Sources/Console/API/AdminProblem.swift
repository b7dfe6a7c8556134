import Credentials
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
  /// - Parameter allow: the methods the resource has.
  case methodNotAllowed(allow: [AdminMethod])
  case requestTimeout
  case contentTooLarge
  case contentNotJSON
  case headTooLarge(String)
  /// An operation on accounts failed.
  case account(AccountFailure)

  var status: AdminStatus {
    switch self {
    case .badRequest, .badParameter: .badRequest
    case .callerUnknown, .crossSiteRefused: .forbidden
    case .notFound: .notFound
    case .methodNotAllowed: .methodNotAllowed
    case .requestTimeout: .requestTimeout
    case .contentTooLarge: .contentTooLarge
    case .contentNotJSON: .unsupportedMediaType
    case .headTooLarge: .headTooLarge
    case .account(let failure): failure.kind.status
    }
  }

  /// Stable; clients tell problems apart by it.
  var code: String {
    switch self {
    case .badRequest: "bad_request"
    case .badParameter: "bad_parameter"
    case .callerUnknown: "caller_unknown"
    case .crossSiteRefused: "cross_site_refused"
    case .notFound: "not_found"
    case .methodNotAllowed: "method_not_allowed"
    case .requestTimeout: "request_timeout"
    case .contentTooLarge: "content_too_large"
    case .contentNotJSON: "content_not_json"
    case .headTooLarge: "head_too_large"
    // An issuer's error code may stand here; it becomes a field value.
    case .account(let failure): ASCII.isToken(failure.code) ? failure.code : "account_failed"
    }
  }

  private var title: String {
    switch self {
    case .badRequest: "The request cannot be understood"
    case .badParameter: "A query parameter is wrong"
    case .callerUnknown: "This caller may not use the admin API"
    case .crossSiteRefused: "Web pages may not use the admin API"
    case .notFound: "There is no such resource"
    case .methodNotAllowed: "The resource does not have this method"
    case .requestTimeout: "The request did not arrive in time"
    case .contentTooLarge: "The content is too large"
    case .contentNotJSON: "The content is not declared as JSON"
    case .headTooLarge: "The request head is too large"
    case .account(let failure): failure.kind.title
    }
  }

  private var detail: String {
    switch self {
    case .badRequest(let detail), .badParameter(let detail), .headTooLarge(let detail): detail
    case .callerUnknown: "The control socket serves the user who runs proofd, and nobody else."
    case .crossSiteRefused: "The request has an Origin field."
    case .notFound: "The path is none of the admin API."
    case .methodNotAllowed(let allow): "The resource has \(allow.map(\.rawValue).joined(separator: ", "))."
    case .requestTimeout: "The rest of the request did not arrive in time."
    case .contentTooLarge: "The content has more than \(AccountAPI.contentBytesMax >> 10) KiB."
    case .contentNotJSON: "Content is taken with Content-Type: application/json only."
    case .account(let failure): failure.detail
    }
  }

  private var next: String {
    switch self {
    case .badRequest, .badParameter, .requestTimeout, .contentTooLarge, .contentNotJSON, .headTooLarge:
      "Correct the request."
    case .callerUnknown: "Run the command as the user who runs proofd."
    case .crossSiteRefused: "Call the admin API from a program."
    case .notFound: "The resources are in Config/admin-api.yaml."
    case .methodNotAllowed: "Use one of its methods."
    case .account(let failure): failure.next
    }
  }

  /// The answer, `application/problem+json` with the members of every problem proofd reports.
  var answer: AdminAnswer {
    var body = ByteBuffer()
    JSONWriter.append(
      .object([
        ("type", .string("urn:proofd:error:\(code)")), ("title", .string(title)),
        ("status", .number("\(status.rawValue)")), ("detail", .string(detail)), ("code", .string(code)),
        ("next", .string(next)),
      ]), to: &body)
    body.append("\n")
    var answer = AdminAnswer(
      status: status, contentType: "application/problem+json", body: body.copy(), problem: code)
    if case .methodNotAllowed(let allow) = self { answer.allow = allow }
    return answer
  }
}

extension AccountFailure.Kind {
  fileprivate var status: AdminStatus {
    switch self {
    case .invalid: .unprocessableContent
    case .notFound: .notFound
    case .conflict: .conflict
    case .forbidden: .forbidden
    case .locked: .locked
    case .loginRequired: .networkAuthenticationRequired
    case .unavailable: .serviceUnavailable
    case .refused: .badGateway
    case .storage: .internalError
    }
  }

  fileprivate var title: String {
    switch self {
    case .invalid: "What was asked for makes no sense"
    case .notFound: "There is no such account"
    case .conflict: "It is there already, or changed at the same time"
    case .forbidden: "The configuration does not allow it"
    case .locked: "The credential store is locked"
    case .loginRequired: "A login is needed"
    case .unavailable: "The authorization server cannot be reached"
    case .refused: "The authorization server refuses"
    case .storage: "The credential store cannot be used"
    }
  }
}
