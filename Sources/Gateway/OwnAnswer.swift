import HTTPWire
import Tracing

/// What the gateway itself says to a request it does not forward or cannot finish (design §5).
///
/// The one place where errors become HTTP answers. Nothing of a request is ever echoed.
package enum OwnAnswer: String, CaseIterable, Sendable {
  case badRequest = "bad_request"
  case requestTimeout = "request_timeout"
  case bodyTooLarge = "body_too_large"
  case hostNotAllowed = "host_not_allowed"
  case headTooLarge = "head_too_large"
  case crossSiteRefused = "cross_site_refused"
  case refusedByPolicy = "refused_by_policy"
  case callerUnknown = "caller_unknown"
  case noRoute = "no_route"
  case methodNotProxied = "method_not_proxied"
  case upstreamUnreachable = "upstream_unreachable"
  case upstreamClosed = "upstream_closed"
  case upstreamProtocol = "upstream_protocol"
  case upstreamTLS = "upstream_tls"
  case tokenRefused = "token_refused"
  case upstreamTimeout = "upstream_timeout"
  case tokenUnavailable = "token_unavailable"
  case overloaded = "overloaded"
  case loginRequired = "login_required"
  case locked = "locked"

  package var status: UInt16 {
    switch self {
    case .badRequest: 400
    case .crossSiteRefused, .refusedByPolicy, .callerUnknown: 403
    case .noRoute: 404
    case .methodNotProxied: 405
    case .requestTimeout: 408
    case .bodyTooLarge: 413
    case .hostNotAllowed: 421
    case .headTooLarge: 431
    case .upstreamUnreachable, .upstreamClosed, .upstreamProtocol, .upstreamTLS, .tokenRefused: 502
    case .tokenUnavailable, .overloaded: 503
    case .upstreamTimeout: 504
    // A 401 would start OAuth in MCP clients and password prompts elsewhere (RFC 6585 §6).
    case .loginRequired, .locked: 511
    }
  }

  var reason: StaticString {
    switch status {
    case 400: "Bad Request"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 413: "Content Too Large"
    case 421: "Misdirected Request"
    case 431: "Request Header Fields Too Large"
    case 502: "Bad Gateway"
    case 503: "Service Unavailable"
    case 504: "Gateway Timeout"
    default: "Network Authentication Required"
    }
  }

  var title: StaticString {
    switch self {
    case .badRequest: "The request cannot be understood"
    case .requestTimeout: "The request did not arrive in time"
    case .bodyTooLarge: "The request body is too large"
    case .hostNotAllowed: "This Host is not served here"
    case .headTooLarge: "The request head is too large"
    case .crossSiteRefused: "Web pages of other sites may not use this gateway"
    case .refusedByPolicy: "The route's policy refuses this request"
    case .callerUnknown: "This caller may not use the gateway"
    case .noRoute: "No route matches"
    case .methodNotProxied: "This method is never forwarded"
    case .upstreamUnreachable: "The upstream cannot be reached"
    case .upstreamClosed: "The upstream closed the connection"
    case .upstreamProtocol: "The upstream's answer breaks HTTP"
    case .upstreamTLS: "TLS to the upstream failed"
    case .tokenRefused: "No access token can be had with this set-up"
    case .upstreamTimeout: "The upstream did not answer in time"
    case .tokenUnavailable: "No access token can be had now"
    case .overloaded: "The gateway is at a limit"
    case .loginRequired: "A login is needed"
    case .locked: "The credential is locked"
    }
  }

  /// The one thing to do about it.
  var next: StaticString {
    switch self {
    case .badRequest, .headTooLarge, .bodyTooLarge, .requestTimeout: "Correct the request; this one was not forwarded."
    case .hostNotAllowed: "Use the address that `proofd serve` printed, or add the name to `allowed_hosts`."
    case .crossSiteRefused: "Call the gateway from a program, not from a page of another origin."
    case .refusedByPolicy: "See the route's limits with `proofd routes`."
    case .callerUnknown: "Call as the user who runs proofd, or set `callers: any`."
    case .noRoute: "List the routes with `proofd routes`."
    case .methodNotProxied: "Use a base URL of this gateway instead of configuring it as a proxy."
    case .upstreamUnreachable, .upstreamClosed, .upstreamTimeout: "Check the upstream, then send the request again."
    case .upstreamProtocol: "Report it to the upstream's operator; `proofd tail` shows the request."
    case .upstreamTLS: "Check the certificate, or name its issuer in `tls.ca` of the route."
    case .tokenRefused: "See `proofd status`: it names the cause and the next step."
    case .tokenUnavailable: "Send the request again later; `proofd status` names the cause and the next attempt."
    case .overloaded: "Send the request again later, or raise the limit in the configuration."
    case .loginRequired: "See `proofd status`: it names the next step."
    case .locked: "Unlock with `proofd unlock`."
    }
  }

  /// Appends the whole answer.
  ///
  /// - Parameters:
  ///   - detail: what exactly; never a part of a request or response, but an issuer's words, which may hold what it was
  ///     sent: held secrets are masked in it.
  ///   - html: the client is a browser that navigates.
  ///   - keepAlive: whether the connection stays open.
  ///   - headOnly: the request's method was HEAD.
  func append(
    to output: inout ByteBuffer, detail: String, html: Bool, keepAlive: Bool, headOnly: Bool, retryAfterSeconds: Int?
  ) {
    let detail = HeldSecrets.mask(detail)
    var body = ByteBuffer()
    html ? appendPage(to: &body, detail: detail) : appendProblem(to: &body, detail: detail)
    output.append("HTTP/1.1 ")
    output.append(decimal: UInt64(status))
    output.append(byte: 0x20)
    output.append(reason)
    output.append("\r\nContent-Type: ")
    output.append(html ? "text/html; charset=utf-8" : "application/problem+json")
    output.append("\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nProofd-Error: ")
    output.append(rawValue)
    if html { output.append("\r\nContent-Security-Policy: default-src 'none'; frame-ancestors 'none'") }
    if self == .methodNotProxied { output.append("\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS") }
    if let retryAfterSeconds {
      output.append("\r\nRetry-After: ")
      output.append(decimal: UInt64(max(0, retryAfterSeconds)))
    }
    if !keepAlive { output.append("\r\nConnection: close") }
    output.append("\r\nContent-Length: ")
    output.append(decimal: UInt64(body.count))
    output.append("\r\n\r\n")
    if !headOnly { body.withUnsafeBytes { output.append($0) } }
  }

  private func appendProblem(to body: inout ByteBuffer, detail: String) {
    body.append("{\"type\":\"urn:proofd:error:")
    body.append(rawValue)
    body.append("\",\"title\":\"")
    body.append(title)
    body.append("\",\"status\":")
    body.append(decimal: UInt64(status))
    body.append(",\"detail\":")
    JSONWriter.append(string: detail, to: &body)
    body.append(",\"code\":\"")
    body.append(rawValue)
    body.append("\",\"next\":")
    JSONWriter.append(string: "\(next)", to: &body)
    body.append("}\n")
  }

  private func appendPage(to body: inout ByteBuffer, detail: String) {
    body.append("<!doctype html><meta charset=utf-8><title>proofd: ")
    body.append(title)
    body.append("</title><h1>")
    body.append(title)
    body.append("</h1><p>")
    appendEscaped(detail, to: &body)
    body.append("</p><p>")
    appendEscaped("\(next)", to: &body)
    body.append("</p><p><small>proofd, code ")
    body.append(rawValue)
    body.append("</small></p>\n")
  }

  private func appendEscaped(_ text: String, to body: inout ByteBuffer) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "<"): body.append("&lt;")
      case UInt8(ascii: ">"): body.append("&gt;")
      case UInt8(ascii: "&"): body.append("&amp;")
      case UInt8(ascii: "\""): body.append("&quot;")
      default: body.append(byte: byte)
      }
    }
  }
}
