package import HTTPWire

/// The identifier of an authorization server, exactly as written: metadata have to repeat it byte for byte.
///
/// RFC 8414 §2, OpenID Connect Discovery 1.0 §3
package struct Issuer: Sendable, Hashable {
  package enum Violation: Error, Sendable, Equatable {
    case url(URLViolation)
    case hasQuery
    /// Plain http is for this machine only.
    case notSecure
  }

  package let text: String
  package let url: HTTPURL
  /// Plain http beyond loopback was allowed by hand.
  let allowsInsecure: Bool

  /// - Throws: `Violation`
  package init(_ text: String, allowsInsecure: Bool = false) throws(Violation) {
    do {
      url = try HTTPURL(parsing: text)
    } catch {
      throw .url(error)
    }
    guard url.query == nil else { throw .hasQuery }
    guard url.scheme == .https || url.origin.isLoopback || allowsInsecure else { throw .notSecure }
    self.text = text
    self.allowsInsecure = allowsInsecure
  }

  /// Whether an endpoint this issuer names may be used: https, or plain http at loopback if the issuer is there, too.
  func permits(_ endpoint: HTTPURL) -> Bool {
    if endpoint.scheme == .https || allowsInsecure { return true }
    return endpoint.origin.isLoopback && url.scheme == .http
  }

  /// Where its metadata may be, in the order to try them.
  ///
  /// OpenID Connect appends the well-known path to the issuer's, RFC 8414 puts it in front; some servers do the latter
  /// with the name of the former.
  package var metadataURLs: [HTTPURL] {
    let path = url.path.hasSuffix("/") ? String(url.path.dropLast()) : url.path
    let paths = [
      "\(path)/.well-known/openid-configuration", "/.well-known/oauth-authorization-server\(path)",
      "/.well-known/openid-configuration\(path)",
    ]
    // Only a path that is too long by now can fail here.
    let urls = paths.compactMap { try? url.replacing(pathAndQuery: $0) }
    return path.isEmpty ? Array(urls.prefix(2)) : urls
  }
}
