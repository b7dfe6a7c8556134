import Cryptography
import EventLoop
import Locking

/// What the two servers and the admin port share.
final class SimulationState: Sendable {
  let time: any TimeSource
  let initialSettings: SimulationSettings
  let settings: Protected<SimulationSettings>
  let journal: Journal
  let faults: FaultScript
  let tokens: TokenRegistry
  let grants: GrantBook
  let nonces: [Role: NonceBook]
  let replays: [Role: ReplayStore] = [.authorizationServer: ReplayStore(), .api: ReplayStore()]
  /// The `jti` values of assertions. RFC 7523 §3
  let assertions = ReplayStore()
  /// Set once both ports are open.
  let addresses = Protected(Addresses())

  struct Addresses: Sendable {
    var authorizationServer = ""
    var api = ""
  }

  init(_ options: SimulationOptions, seed: Secret, signingKey: ProofKey) {
    time = options.time
    initialSettings = options.settings
    settings = Protected(options.settings)
    journal = Journal(entriesMax: options.journalEntriesMax, redactsSecrets: options.redactsJournal, time: options.time)
    faults = FaultScript()
    tokens = TokenRegistry(signingKey: signingKey, seed: seed)
    grants = GrantBook(seed: seed)
    nonces = [
      .authorizationServer: NonceBook(role: .authorizationServer, seed: seed), .api: NonceBook(role: .api, seed: seed),
    ]
  }

  func serverSettings(of role: Role) -> ServerSettings {
    settings.withLock { role == .api ? $0.api.server : $0.authorizationServer.server }
  }

  /// The time on that server's clock.
  func now(at role: Role) -> Int64 {
    time.wallNanoseconds / 1_000_000_000 + Int64(serverSettings(of: role).clockOffsetSeconds)
  }

  /// The authorization server's name for itself. RFC 8414 §2
  var issuer: String {
    serverSettings(of: .authorizationServer).externalURL ?? origin(of: .authorizationServer)
  }

  /// Whether a token is neither expired nor revoked, and its grant alive.
  func isGood(_ token: IssuedToken, at role: Role) -> Bool { !isRevoked(token) && !isExpired(token, at: role) }

  func isRevoked(_ token: IssuedToken) -> Bool {
    tokens.isRevoked(token) || token.grant.map { grants.grant($0)?.isAlive != true } ?? false
  }

  func isExpired(_ token: IssuedToken, at role: Role) -> Bool { now(at: role) >= token.expiresAtUnixSeconds }

  func origin(of role: Role) -> String {
    addresses.withLock { role == .api ? $0.api : $0.authorizationServer }
  }
}
