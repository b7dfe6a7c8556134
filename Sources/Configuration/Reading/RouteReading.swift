import HTTPWire

/// A route with the places later checks point at.
struct RouteDraft {
  let route: RouteConfiguration
  let upstreamEntry: Entry
  let credentialEntry: Entry?
  /// The place of the limit that counts for the route, when the route has its own.
  let replayLimitEntry: Entry?
}

/// What routes inherit.
struct RouteDefaults {
  var replayLimitBytes: Int
  var bodyLimitBytes: Int?
  var timeouts: Timeouts
}

extension ReadingContext {
  static let routesMax = 1000
  /// As long as the methods HTTPWire accepts.
  static let methodBytesMax = 32

  /// The routes that could be read. Names are unique as keys of a mapping; paths are checked here.
  func readRoutes(_ entry: Entry, credentials: CredentialTable, defaults: RouteDefaults) -> [RouteDraft] {
    let pairs = entry.pairs(of: "names and routes")
    guard pairs.count <= Self.routesMax else {
      entry.report("more than \(Self.routesMax) routes")
      return []
    }
    var ownerOfPath: [String: Entry] = [:]
    var drafts: [RouteDraft] = []
    for (name, entry) in pairs {
      if !ASCII.isLabel(name) {
        let lower = name.lowercased()
        entry.reportKey(
          "a route's name becomes NAME.localhost: lower-case letters, digits and inner hyphens, 63 at most",
          suggestion: ASCII.isLabel(lower) ? lower : nil)
      }
      guard let section = Section(entry, KeyTable.route) else { continue }
      let path = section["path"].flatMap { readUniquePath($0, &ownerOfPath) }
      if let draft = readRoute(section, name: name, path: path, credentials: credentials, defaults: defaults) {
        drafts.append(draft)
      }
    }
    return drafts
  }

  private func readRoute(
    _ section: Section, name: String, path: String?, credentials: CredentialTable, defaults: RouteDefaults
  ) -> RouteDraft? {
    let allowInsecure = section.boolean("allow_insecure", default: false)
    let upstreamEntry = section.required("upstream")
    let upstream = upstreamEntry.flatMap { readUrl($0, .upstream, allowInsecure: allowInsecure) }
    let reference = section["credential"].flatMap(readReference)
    let profile = section["credential"].flatMap { entry in reference.flatMap { resolve($0, entry, credentials) } }
    let credential =
      section["credential"] == nil
      ? noCredential(section) : profile.map { readRouteCredential(section, $0, account: reference?.account) }
    let passAuthorization = section.boolean("pass_authorization", default: false)
    if passAuthorization, let profile, profile.setsAuthorization {
      section["pass_authorization"]?.reportKey("the credential sets Authorization: a request can't have two")
    }
    let htuBase = section["htu_base"].flatMap { readUrl($0, .htuBase) }
    let htuPath = section["htu_path"]?.choice(["raw": RouteConfiguration.HTUPath.raw, "decoded": .decoded])
    if section["credential"] == nil || profile.map({ !$0.usesDPoP }) == true {
      for key in ["htu_base", "htu_path"] { section[key]?.reportKey("has a meaning with a dpop: true credential only") }
    }
    let timeouts = readTimeouts(section, defaults: defaults.timeouts)
    let replayLimit = section["replay_limit"]?.size(Bounds.replayLimit)
    let bodyLimit = section["body_limit"]?.size(Bounds.body)
    let methods = section["methods"].flatMap(readMethods)
    let removed = section["remove_headers"].map { $0.list().compactMap(readRemovableFieldName) } ?? []
    let tls = section["tls"].flatMap { Section($0, KeyTable.upstreamTLS) }.map(readUpstreamTLS) ?? UpstreamTLS()
    if let upstream, upstream.scheme == .http { section["tls"]?.reportKey("has a meaning with an https upstream only") }

    guard let upstream, let upstreamEntry else { return nil }
    let route = RouteConfiguration(
      name: name, path: path, upstream: upstream, credential: credential, methods: methods,
      passAuthorization: passAuthorization, removeHeaders: removed, htuBase: htuBase, htuPath: htuPath ?? .raw,
      tls: tls,
      allowInsecure: allowInsecure, replayLimitBytes: replayLimit ?? defaults.replayLimitBytes,
      bodyLimitBytes: bodyLimit ?? defaults.bodyLimitBytes, timeouts: timeouts)
    return RouteDraft(
      route: route, upstreamEntry: upstreamEntry, credentialEntry: section["credential"],
      replayLimitEntry: section["replay_limit"])
  }

  // MARK: Where from

  private func readUniquePath(_ entry: Entry, _ ownerOfPath: inout [String: Entry]) -> String? {
    guard let path = entry.string(expected: "a path such as /orders") else { return nil }
    guard let violation = Self.violation(ofPath: path) else {
      if let other = ownerOfPath[path] {
        entry.report("the same path as \(other.path) on line \(other.node.mark.line)")
        return nil
      }
      ownerOfPath[path] = entry
      return path
    }
    entry.report(violation)
    return nil
  }

  /// A prefix has one spelling: what a request could spell in two ways is not accepted in it.
  private static func violation(ofPath path: String) -> String? {
    guard path.hasPrefix("/") else { return "must begin with /" }
    if path == "/" { return nil }
    if path.hasSuffix("/") { return "must not end with /: the prefix is matched by whole segments" }
    if path.contains("%") { return "must not be percent-encoded: prefixes are compared byte by byte" }
    guard path.utf8.allSatisfy({ $0 == UInt8(ascii: "/") || ASCII.isPathCharacter($0) }) else {
      return "has a character that can't stand in a path"
    }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    if segments.contains("") { return "must not have an empty segment" }
    if segments.contains(".") || segments.contains("..") { return "must not have . or .. as a segment" }
    return nil
  }

  private func readMethods(_ entry: Entry) -> [String]? {
    let standard = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    var methods: [String] = []
    let items = entry.list()
    if items.isEmpty, case .sequence = entry.node.content {
      entry.report("allows no method; leave it out to allow all but TRACE, TRACK and CONNECT")
    }
    for item in items {
      guard let method = item.string(expected: "a method such as GET") else { continue }
      let upper = method.uppercased()
      if RouteConfiguration.methodsNeverProxied.contains(upper) {
        item.report("\(upper) is never proxied")
      } else if !ASCII.isToken(method) || method.utf8.count > Self.methodBytesMax {
        item.report("must be a method such as GET")
      } else if method != upper, standard.contains(upper) {
        item.report("methods are case-sensitive", suggestion: upper)
      } else if !methods.contains(method) {
        methods.append(method)
      }
    }
    return methods.isEmpty ? nil : methods
  }

  // MARK: As whom

  private static let targetKeys = ["audience", "scope", "resource", "parameters"]

  private func noCredential(_ section: Section) -> RouteCredential? {
    for key in Self.targetKeys + ["token_timeout"] { section[key]?.reportKey("has a meaning with a credential only") }
    return nil
  }

  private func readRouteCredential(
    _ section: Section, _ profile: CredentialProfile, account: String?
  ) -> RouteCredential {
    switch profile.kind {
    case .client(let client):
      return RouteCredential(
        name: profile.name, account: account, target: readTokenTarget(section, base: client.target))
    case .fixed:
      for key in Self.targetKeys { section[key]?.reportKey("has a meaning with a provider: oidc credential only") }
      return RouteCredential(name: profile.name)
    }
  }

  // MARK: How long

  private func readTimeouts(_ section: Section, defaults: Timeouts) -> RouteTimeouts {
    var timeouts = RouteTimeouts(defaults)
    if let value = section["token_timeout"]?.duration(Bounds.token) { timeouts.token = value }
    guard let own = section["timeouts"].flatMap({ Section($0, KeyTable.routeTimeouts) }) else { return timeouts }
    if let value = own["connect"]?.duration(Bounds.connect) { timeouts.connect = value }
    if let value = own["response"]?.duration(Bounds.response) { timeouts.response = value }
    return timeouts
  }

  // MARK: To whom

  private func readUpstreamTLS(_ section: Section) -> UpstreamTLS {
    let name = section["server_name"]?.string(expected: "a host name")
    if let name, !name.utf8.allSatisfy({ ASCII.isAlphanumeric($0) || "-.:".utf8.contains($0) }) {
      section["server_name"]?.report("must be a host name")
    }
    return UpstreamTLS(certificateAuthorityFile: readCertificateAuthorityFile(section), serverName: name?.lowercased())
  }
}

extension CredentialProfile {
  /// Whether the credential is sent as `Authorization`.
  var setsAuthorization: Bool {
    guard case .fixed(let credential) = kind else { return true }
    switch credential.placement {
    case .bearer, .basic: return true
    case .field(let name, _): return name.lowercased() == "authorization"
    case .query: return false
    }
  }
}
