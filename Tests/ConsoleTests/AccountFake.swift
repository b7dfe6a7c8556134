import Credentials
import Cryptography
import Locking

/// Accounts that know what was asked of them, and fail on demand.
final class AccountFake: AccountService {
  private struct State {
    var calls: [String] = []
    var failure: AccountFailure?
  }

  private let state = Protected(State())
  private let lockState: LockStatus?
  /// Awaited by every operation; tests hold an answer back with it.
  private let before: @Sendable () async -> Void
  /// Told of every operation.
  private let noted: @Sendable (String) -> Void

  init(
    failing failure: AccountFailure? = nil, lock: LockStatus? = nil,
    before: @escaping @Sendable () async -> Void = {}, noted: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    lockState = lock
    self.before = before
    self.noted = noted
    state.withLock { $0.failure = failure }
  }

  /// What was asked for, in words; secrets as they were, so that a test sees which arrived.
  var calls: [String] { state.withLock { $0.calls } }

  private func note(_ call: String) async throws(AccountFailure) {
    await before()
    let failure = state.withLock { state in
      state.calls.append(call)
      return state.failure
    }
    noted(call)
    if let failure { throw failure }
  }

  static func status(_ name: AccountName) -> AccountStatus {
    var status = AccountStatus(
      name: name, kind: "authorization_code", state: .ready, canServe: true, next: "Nothing to do.")
    status.tags = ["billing"]
    status.issuer = "https://id.example.com"
    status.clientID = "abc"
    status.scope = ["read", "write"]
    status.lastRefreshAtUnixSeconds = 1_800_000_000
    status.targets = [
      AccountStatus.Target(
        audience: "https://api.example.com/", resource: [], scope: ["read"], state: .ready,
        expiresAtUnixSeconds: 1_800_000_300)
    ]
    status.lastFailure = AccountStatus.Failure(code: "server_error", detail: "Oops", atUnixSeconds: 1_799_999_000)
    return status
  }

  func accounts() async throws(AccountFailure) -> [AccountStatus] {
    try await note("accounts")
    return [Self.status(AccountName(profile: "acme")), Self.status(AccountName(profile: "acme", account: "work"))]
  }

  func account(_ name: AccountName) async throws(AccountFailure) -> AccountStatus {
    try await note("account \(name)")
    return Self.status(name)
  }

  func importGrant(
    _ grant: ImportedGrant, as name: AccountName, replace: Bool, isOffline: Bool
  ) async throws(AccountFailure) -> AccountStatus {
    try await note(
      [
        "import \(name)", grant.refreshToken.revealedString(), grant.idToken?.revealedString() ?? "-",
        grant.proofKey?.revealedString() ?? "-", "\(grant.scope)", "\(grant.tags)", grant.clientID ?? "-",
        grant.issuer ?? "-", "\(replace)", "\(isOffline)",
      ].joined(separator: " | "))
    return Self.status(name)
  }

  func makeDefault(_ name: AccountName) async throws(AccountFailure) -> AccountStatus {
    try await note("default \(name)")
    return Self.status(name)
  }

  func tag(
    _ name: AccountName, adding: [String], removing: [String]
  ) async throws(AccountFailure) -> AccountStatus {
    try await note("tag \(name) +\(adding) -\(removing)")
    return Self.status(name)
  }

  func remove(_ name: AccountName) async throws(AccountFailure) { try await note("remove \(name)") }

  func identity(_ name: AccountName) async throws(AccountFailure) -> AccountIdentity {
    try await note("identity \(name)")
    var identity = AccountIdentity()
    identity.subject = "u-1"
    identity.email = "ann@example.com"
    return identity
  }

  func token(_ name: AccountName, _ ask: TokenAsk) async throws(AccountFailure) -> ExportedToken {
    try await note("token \(name) \(Self.text(ask))")
    return ExportedToken(
      accessToken: Secret(utf8: "the-access-token"), scheme: "DPoP", expiresAtUnixSeconds: 1_800_000_300)
  }

  func fields(_ name: AccountName, _ ask: FieldsAsk) async throws(AccountFailure) -> [ExportedField] {
    try await note("fields \(name) \(ask.method) \(ask.url.origin)\(ask.url.requestTarget) \(Self.text(ask.token))")
    return [
      ExportedField(name: "Authorization", value: Secret(utf8: "DPoP the-access-token")),
      ExportedField(name: "DPoP", value: Secret(utf8: "a.b.c")),
    ]
  }

  private static func text(_ ask: TokenAsk) -> String {
    "\(ask.audience ?? "-") \(ask.resource) \(ask.scope) \(ask.minimumLifetime.map { "\($0)" } ?? "-")"
  }

  func unlock(passphrase: Secret) async throws(AccountFailure) {
    try await note("unlock \(passphrase.revealedString())")
  }

  func lock() async throws(AccountFailure) { try await note("lock") }
  func lockStatus() async -> LockStatus? { lockState }
}
