/// The keys one mapping of the file may have.
struct SectionKeys: Sendable {
  /// The name of the definition in `Config/proofd.schema.json`.
  let name: String
  let known: [String]
  /// Keys of the same mapping in a later version.
  let later: [String]

  init(_ name: String, _ known: [String], later: [String] = []) {
    self.name = name
    self.known = known
    self.later = later
  }
}

/// Every key this version reads. The JSON schema says the same, and a test holds the two together.
enum KeyTable {
  static let document = SectionKeys(
    "document",
    [
      "listen", "allowed_hosts", "state", "store", "callers", "threads", "credentials", "routes", "log", "limits",
      "timeouts",
      "token_timeout", "replay_limit", "replay_total",
    ], later: LaterVersions.documentKeys)
  static let log = SectionKeys("log", ["file"])
  static let store = SectionKeys("store", ["key", "unlock", "unlock_for"])
  static let storeKey = SectionKeys("storeKey", ["file", "systemd"])
  static let limits = SectionKeys(
    "limits", ["connections", "waiting", "body", "head", "fields", "target", "idle_upstream_connections"])
  static let timeouts = SectionKeys(
    "timeouts", ["head", "body", "send", "idle", "connect", "response", "idle_upstream", "drain"])

  private static let staticKeys = [
    "provider", "token", "scheme", "username", "password", "header", "query", "reread", "allow_export",
  ]
  /// Keys of the client that say something with one grant only.
  static let grantKeys: KeyValuePairs<String, [String]> = [
    "jwt_bearer": ["assertion", "signed_assertion"],
    "token_exchange": [
      "subject_token", "subject_credential", "subject_token_type", "actor_token", "actor_token_type",
      "requested_token_type",
    ],
    "password": ["username", "password"],
  ]
  private static let oidcKeys =
    [
      "provider", "issuer", "endpoints", "grant", "client_id", "client_secret", "client_auth", "private_key", "key_id",
      "signing_algorithm", "assertion_audience", "scope", "audience", "resource", "parameters", "targets", "dpop",
      "allow_bearer", "allow_export", "allow_insecure", "tls",
    ] + grantKeys.flatMap(\.value)
  static let staticCredential = SectionKeys("staticCredential", staticKeys, later: LaterVersions.credentialKeys)
  static let oidcCredential = SectionKeys("oidcCredential", oidcKeys, later: LaterVersions.credentialKeys)
  static let endpoints = SectionKeys("endpoints", ["token"], later: LaterVersions.endpointKeys)
  static let issuerTLS = SectionKeys("issuerTLS", ["ca", "certificate", "key"])
  static let signedAssertion = SectionKeys(
    "signedAssertion",
    ["issuer", "subject", "audience", "lifetime", "private_key", "key_id", "signing_algorithm", "claims"])

  static let route = SectionKeys(
    "route",
    [
      "path", "upstream", "credential", "audience", "scope", "resource", "parameters", "methods", "pass_authorization",
      "remove_headers", "htu_base", "htu_path", "tls", "replay_limit", "body_limit", "token_timeout", "timeouts",
      "allow_insecure",
    ], later: LaterVersions.routeKeys)
  static let upstreamTLS = SectionKeys("upstreamTLS", ["ca", "server_name"], later: LaterVersions.upstreamTLSKeys)
  static let routeTimeouts = SectionKeys("routeTimeouts", ["connect", "response"])

  static let secretReference = SectionKeys("secretReference", ["env", "file", "command"])

  static let all = [
    document, log, store, storeKey, limits, timeouts, staticCredential, oidcCredential, endpoints, issuerTLS,
    signedAssertion, route, upstreamTLS, routeTimeouts, secretReference,
  ]

  /// The keys whose values are secrets.
  static let secretKeys = [
    "token", "password", "client_secret", "private_key", "assertion", "subject_token", "actor_token",
  ]

  /// Whether the value at this key path is a secret, of which not even a mapping's keys are repeated.
  static func holdsSecret(_ path: String) -> Bool { secretKeys.contains { path.hasSuffix(".\($0)") } }
}
