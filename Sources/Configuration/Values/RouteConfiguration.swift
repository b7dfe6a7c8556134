package import HTTPWire

/// One entry of `routes:`: which requests go where, and as whom.
package struct RouteConfiguration: Sendable, Equatable {
  /// How the path of a proof's `htu` is spelled.
  package enum HTUPath: String, Sendable {
    /// The bytes of the request line, RFC 9449 §4.2.
    case raw
    /// Percent-decoded, for servers that compare so.
    case decoded
  }

  /// Unique; a DNS label in lower case, because `http://NAME.localhost` reaches the route with the path kept.
  package var name: String
  /// The segments a request path begins with, stripped before forwarding: `/orders`, or `/` for all. Compared byte by byte.
  /// Nil: reachable as `NAME.localhost` only.
  package var path: String?
  /// Without query. What is left of the request path is appended to its path.
  package var upstream: HTTPURL
  package var credential: RouteCredential?
  /// In the order of the file; nil is every method but TRACE, TRACK and CONNECT.
  package var methods: [String]?
  /// The caller's `Authorization` goes upstream. Never together with a credential that sets this field.
  package var passAuthorization: Bool
  /// Names of request fields that don't go upstream, in lower case.
  package var removeHeaders: [String]
  /// What the upstream believes its URL to be, for `htu`: replaces `upstream`, origin and path, in the claim only. Without query.
  package var htuBase: HTTPURL?
  package var htuPath: HTUPath
  package var tls: UpstreamTLS
  /// Plain http beyond loopback was allowed by hand.
  package var allowInsecure: Bool
  /// Body bytes of a request that are kept for a replay.
  package var replayLimitBytes: Int
  /// Larger request bodies are refused; nil is any size.
  package var bodyLimitBytes: Int?
  package var timeouts: RouteTimeouts

  package init(
    name: String, path: String?, upstream: HTTPURL, credential: RouteCredential? = nil, methods: [String]? = nil,
    passAuthorization: Bool = false, removeHeaders: [String] = [], htuBase: HTTPURL? = nil, htuPath: HTUPath = .raw,
    tls: UpstreamTLS = UpstreamTLS(), allowInsecure: Bool = false,
    replayLimitBytes: Int = Configuration.replayLimitBytesDefault, bodyLimitBytes: Int? = nil,
    timeouts: RouteTimeouts = RouteTimeouts(Timeouts())
  ) {
    self.name = name
    self.path = path
    self.upstream = upstream
    self.credential = credential
    self.methods = methods
    self.passAuthorization = passAuthorization
    self.removeHeaders = removeHeaders
    self.htuBase = htuBase
    self.htuPath = htuPath
    self.tls = tls
    self.allowInsecure = allowInsecure
    self.replayLimitBytes = replayLimitBytes
    self.bodyLimitBytes = bodyLimitBytes
    self.timeouts = timeouts
  }

  /// Methods no proxy here passes on: they show a request to its sender or open a tunnel.
  package static let methodsNeverProxied = ["CONNECT", "TRACE", "TRACK"]
}

/// Whose token a route sends, and for what.
package struct RouteCredential: Sendable, Hashable {
  package var reference: CredentialReference
  /// The credential's target with what the route says instead; empty for a static credential.
  package var target: TokenTarget

  package init(name: String, account: String? = nil, target: TokenTarget = TokenTarget()) {
    reference = CredentialReference(name: name, account: account)
    self.target = target
  }

  /// A name in `Configuration.credentials`.
  package var name: String { reference.name }
  /// As `CredentialReference.account`.
  package var account: String? { reference.account }
}

/// How an upstream is recognised.
package struct UpstreamTLS: Sendable, Hashable {
  /// Absolute path of PEM certificates to trust instead of the system's; nil is the system's.
  package var certificateAuthorityFile: String?
  /// The name to ask for and to check the certificate against; nil is the upstream's host.
  package var serverName: String?

  package init(certificateAuthorityFile: String? = nil, serverName: String? = nil) {
    self.certificateAuthorityFile = certificateAuthorityFile
    self.serverName = serverName
  }
}
