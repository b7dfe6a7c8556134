import Credentials
import Cryptography
import HTTPWire
import Testing

@testable import Simulators

/// Accounts of the profile `acme`, as earlier logins left them in the store.
extension Setup {
  static let acmeRoute = "api: {path: /api, upstream: \"$API\", credential: acme}"

  /// - Parameters:
  ///   - accounts: their names; empty is the one without a name.
  ///   - profile: more keys of the profile.
  static func login(
    accounts: [String] = [""], dpop: Bool = true, nonces: NonceMode = .off, profile: String = "",
    routes: String = Self.acmeRoute, _ change: (inout SimulationSettings) -> Void = { _ in }
  ) -> Setup {
    var simulation = SimulationOptions(clients: [SimulatedClient(id: "app")], nonces: nonces)
    // The accounts begin at the same time, each with nonces of its own, as clients of a real server do.
    simulation.settings.authorizationServer.server.nonce.previousAccepted = 8
    if !dpop {
      simulation.settings.authorizationServer.binding = .ignored
      simulation.settings.api.access = .bearer()
    }
    change(&simulation.settings)
    return Setup(
      simulation: simulation, credentials: Self.acme(dpop: dpop, profile), routes: routes, more: Self.store,
      prepare: { simulation, directory in
        let store = Self.store(in: directory)
        for account in accounts {
          var seed = GrantSeed(clientID: "app", makesKey: dpop)
          seed.subject = account.isEmpty ? "ada" : account
          let grant = try StoredGrant(try simulation.seedGrant(seed), account: account, at: simulation)
          try store.insert(grant, tokens: [], replacing: nil)
        }
      })
  }

  /// Changes the one grant there is, before the daemon starts.
  func changingGrant(_ change: @escaping @Sendable (inout StoredGrant) throws -> Void) -> Setup {
    var setup = self
    setup.prepare = { [prepare] simulation, directory in
      try prepare(simulation, directory)
      let store = Self.store(in: directory)
      let record = try #require(try store.records().first)
      var grant = try #require(try store.grant(record.id))
      try change(&grant)
      _ = try store.remove(record.id)
      try store.insert(grant, tokens: [], replacing: nil)
    }
    return setup
  }

  static func acme(dpop: Bool = true, _ more: String = "") -> String {
    """
    acme: {provider: oidc, issuer: "$AS", client_id: app, tls: {ca: $DIR/ca.pem}, dpop: \(dpop)\
    \(more.isEmpty ? "" : ", ")\(more)}
    """
  }

  static let store = "store: {key: {file: $DIR/store.key}}"

  static func store(in directory: String) -> SQLiteCredentialStore {
    SQLiteCredentialStore(directory: "\(directory)/state", key: .file(path: "\(directory)/store.key"))
  }
}

extension StoredGrant {
  /// What the client of a seeded grant would have stored.
  init(_ seeded: SeededGrant, profile: String = "acme", account: String = "", at simulation: Simulation) throws {
    self.init(
      record: GrantRecord(
        id: .random(), profile: profile, account: account, issuer: simulation.authorizationServer.url,
        clientID: seeded.grant.clientID, origins: [simulation.authorizationServer.url],
        proofKeyThumbprint: seeded.key?.thumbprint, createdAtUnixSeconds: 1_800_000_000),
      secrets: GrantSecrets(
        refreshToken: Secret(utf8: seeded.refreshToken), idToken: seeded.idToken.map { Secret(utf8: $0) },
        proofKey: try seeded.key?.exportPrivate()))
  }
}

extension Scene {
  /// The store, as another process sees it.
  var store: SQLiteCredentialStore { Setup.store(in: directory) }

  /// The account as it is stored now.
  func grant(_ account: String = "") throws -> StoredGrant {
    let store = store
    let record = try #require(try store.records().first { $0.account == account })
    return try #require(try store.grant(record.id))
  }

  /// The refreshes that reached the token endpoint.
  var refreshes: [JournalEntry] { tokenRequests.filter { $0.tokenRequest?.grantType == .refreshToken } }

  /// The daemon refreshes by itself when it starts: waits for that.
  func warmUp() async throws {
    let isWarm = await simulation.journal.wait { $0.contains { $0.path == "/token" && $0.status == 200 } }
    try #require(isWarm, "a token comes at the start")
  }
}

extension JournalEntry {
  /// A parameter of the form; nil if it is not there.
  func formValue(_ name: String) -> String? { form.first { $0.0 == name }?.1 }

  /// A claim of the access token that came with the request.
  func tokenClaim(_ name: String) throws -> JSONValue? {
    let payload = try #require(token?.split(separator: ".").dropFirst().first)
    return try JSONValue(parsing: try #require(Base64URL.decode(payload)))[name]
  }
}
