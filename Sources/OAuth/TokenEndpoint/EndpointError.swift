package import HTTPWire

/// An error answer of an authorization server's endpoint. RFC 6749 §5.2
package struct EndpointError: Error, Sendable, Equatable {
  package let status: Int
  /// The `error` member, if it is there and is a code; servers that answer with HTML or nothing exist.
  package let code: String?
  package let serverText: UntrustedText?
  /// What the server asks to wait. RFC 9110 §10.2.3
  package let retryAfter: Duration?

  static let codeBytesMax = 64

  package init(status: Int, code: String?, serverText: UntrustedText? = nil, retryAfter: Duration? = nil) {
    self.status = status
    self.code = code
    self.serverText = serverText
    self.retryAfter = retryAfter
  }

  /// Reads any answer that is not a success; nothing in it is required.
  init(_ response: HTTPResponse, json: JSONValue?) {
    self.init(
      status: response.status, code: json?["error"]?.stringValue.flatMap(Self.code),
      serverText: json?["error_description"]?.stringValue.map { UntrustedText($0) },
      retryAfter: Self.retryAfter(of: response))
  }

  /// It may go away by itself: overload, maintenance. All else is somebody's mistake.
  package var isTransient: Bool {
    switch code {
    case "temporarily_unavailable", "server_error", "slow_down", "too_many_requests": true
    case "use_dpop_nonce": false
    default: status == 408 || status == 429 || status >= 500
    }
  }

  /// `400 invalid_client` or `403`.
  package var summary: String { code.map { "\(status) \($0)" } ?? "\(status)" }

  /// A code fit to be shown and compared. `error = 1*NQSCHAR`; RFC 6749 appendix A.7
  private static func code(_ text: String) -> String? {
    let isCode = text.utf8.allSatisfy { ASCII.isUnreserved($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
    return !text.isEmpty && text.utf8.count <= codeBytesMax && isCode ? text : nil
  }

  /// Seconds, or a date, which is measured against the answer's own `Date`. RFC 9110 §10.2.3
  package static func retryAfter(of response: HTTPResponse) -> Duration? {
    guard let text = response.onlyValue(of: "Retry-After") else { return nil }
    if !text.isEmpty, text.utf8.allSatisfy({ ASCII.isDigit($0) }) {
      return .seconds(Int64(text) ?? Int64(Int32.max))
    }
    guard let now = response.onlyValue(of: "Date").flatMap({ HTTPDate.parse($0, nowUnixSeconds: 0) }),
      let then = HTTPDate.parse(text, nowUnixSeconds: now)
    else { return nil }
    return .seconds(max(0, then - now))
  }
}
