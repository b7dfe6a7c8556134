/// The schemes proofd speaks.
package enum HTTPScheme: String, Sendable, Hashable {
  case http, https

  package var defaultPort: UInt16 { self == .http ? 80 : 443 }
}

/// Scheme, host and port: what a credential may be sent to. RFC 6454 §4
package struct Origin: Sendable, Hashable, CustomStringConvertible {
  package let scheme: HTTPScheme
  /// Lower case; an IPv6 address in its RFC 5952 form, without brackets.
  package let host: String
  package let port: UInt16

  init(scheme: HTTPScheme, host: String, port: UInt16) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// Parses `scheme://host[:port]`, the form of an `Origin` field; `null` is refused with all else.
  ///
  /// - Throws: `URLViolation`.
  ///
  /// RFC 6454 §6.2
  package init(parsing text: String) throws(URLViolation) {
    let url = try HTTPURL(parsing: text)
    guard url.isOriginOnly(text) else { throw .originHasPath }
    self = url.origin
  }

  /// `host[:port]`, the default port dropped, IPv6 in brackets: the value of `Host`.
  package var authority: String {
    let bracketed = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    return port == scheme.defaultPort ? bracketed : "\(bracketed):\(port)"
  }

  /// As an `Origin` field shows it.
  package var description: String { "\(scheme.rawValue)://\(authority)" }

  /// Whether it can only be this machine: 127.0.0.0/8, ::1, `localhost` and names below it. RFC 6761 §6.3
  package var isLoopback: Bool {
    if host == "::1" || host == "localhost" || host == "localhost." { return true }
    if host.hasSuffix(".localhost") || host.hasSuffix(".localhost.") { return true }
    let mapped = host.hasPrefix("::ffff:") ? host.dropFirst(7) : host[...]
    return mapped.hasPrefix("127.") && mapped.utf8.allSatisfy { ASCII.isDigit($0) || $0 == UInt8(ascii: ".") }
  }
}
