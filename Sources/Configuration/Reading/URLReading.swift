import HTTPWire

extension ReadingContext {
  /// What a URL is for decides what it may have.
  enum URLUse {
    case upstream, issuer, tokenEndpoint, htuBase

    var allowsQuery: Bool { self == .tokenEndpoint }
    /// Nothing is sent to an `htu_base`.
    var isSentTo: Bool { self != .htuBase }
  }

  /// An http or https URL. Plain http is for loopback hosts, or for those who say `allow_insecure: true`, and then it is said.
  func readUrl(_ entry: Entry, _ use: URLUse, allowInsecure: Bool = false) -> HTTPURL? {
    guard let text = entry.string(expected: "a URL such as https://api.example.com/v1") else { return nil }
    let url: HTTPURL
    do { url = try HTTPURL(parsing: text) } catch {
      // A sentence of its own, about "the URL".
      let detail = error.detail.description
      entry.report("is not a URL that can be used: \(detail.prefix(1).lowercased())\(detail.dropFirst().dropLast())")
      return nil
    }
    if url.query != nil, !use.allowsQuery {
      entry.report("must not have a query (?…)")
      return nil
    }
    if use.isSentTo, url.scheme == .http, !url.origin.isLoopback {
      guard allowInsecure else {
        entry.report("must be https; plain http is for loopback hosts, or with allow_insecure: true")
        return nil
      }
      entry.warn("plain http: what is sent there, credentials included, can be read and changed on the way")
    }
    return url
  }
}
