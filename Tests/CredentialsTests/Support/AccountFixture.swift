import Cryptography
import EventLoop
import HTTPWire
import Locking
import OAuth

@testable import Credentials

/// Accounts whose store, authorization server and clocks are in the hands of the test.
struct AccountFixture {
  let time: ManualTime
  let store: MemoryCredentialStore
  let server: ScriptedServer
  let held: HeldSecrets
  let events = Events()
  let steps = Steps()
  /// Where everything waits that waits for longer than a lease.
  let rest = ManualSleep()
  let book: AccountBook

  /// - Parameters:
  ///   - store: one that another fixture used: the process has started anew.
  init(
    store: MemoryCredentialStore = MemoryCredentialStore(), time: ManualTime = ManualTime(),
    binding: ClientRegistration.Binding = .bearer, origin: LoginProfile.Origin = .authorizationCode,
    target: TokenTargetKey = TokenTargetKey(), targets: LoginProfile.Targets = .refresh,
    unlock: UnlockPolicy = .untilLocked, usesPassphrase: Bool = false, exports: Bool = true, server: ScriptedServer,
    heldBytesMin: Int = 0, gate: AsyncTurn? = nil
  ) throws {
    self.store = store
    self.time = time
    self.server = server
    held = HeldSecrets(bytesMin: heldBytesMin)
    let (events, steps, rest) = (events, steps, rest)
    let environment = CredentialEnvironment(
      http: GatedServer(server: server, gate: gate), time: time,
      sleep: { pause in
        if pause < .seconds(1) { time.advance(by: pause) } else { await rest.sleep(pause) }
      },
      events: { events.append($0) },
      secrets: held.announcer)
    book = AccountBook(
      store: store, usesPassphrase: usesPassphrase, unlock: unlock, environment: environment,
      step: { steps.append($0) })
    book.add(
      LoginProfile(
        registration: ClientRegistration(
          name: "acme", server: .issuer(try Issuer(ScriptedServer.issuer)), clientID: "app", authentication: .none,
          binding: binding), origin: origin, target: target, targets: targets),
      allowsExport: exports, environment: environment)
  }

  /// Puts a grant into the store as an earlier login did.
  @discardableResult
  func grant(
    account: String = "", refreshToken: String = "refresh-token-0", key: ProofKey? = nil, scope: [String] = [],
    sessionExpiresAtUnixSeconds: Int64? = nil, _ change: (inout StoredGrant) -> Void = { _ in }
  ) throws -> GrantID {
    var grant = StoredGrant(
      record: GrantRecord(
        id: .random(), profile: "acme", account: account, issuer: ScriptedServer.issuer, clientID: "app",
        origins: ["https://id.example.com"], scope: scope, proofKeyThumbprint: key?.thumbprint,
        createdAtUnixSeconds: 1_800_000_000, sessionExpiresAtUnixSeconds: sessionExpiresAtUnixSeconds),
      secrets: GrantSecrets(refreshToken: Secret(utf8: refreshToken), proofKey: try key?.exportPrivate()))
    change(&grant)
    try store.insert(grant, tokens: [], replacing: nil)
    return grant.record.id
  }

  /// Where routes get the tokens of the profile's default account, or of the one named.
  func source(_ account: String? = nil, _ target: TokenTargetKey = TokenTargetKey()) -> TokenSource {
    guard let source = book.source(of: AccountName(profile: "acme", account: account), target: target) else {
      preconditionFailure("the profile is there")
    }
    return source
  }

  func failure(_ source: TokenSource) async -> TokenFailure? {
    do throws(TokenFailure) {
      _ = try await source.token()
      return nil
    } catch {
      return error
    }
  }

  /// The record of the account, whatever became of it.
  func record(_ id: GrantID) throws -> GrantRecord? { try store.records().first { $0.id == id } }
}

final class Steps: Sendable {
  private let steps = Protected<[RefreshStep]>([])
  func append(_ step: RefreshStep) { steps.withLock { $0.append(step) } }
  var all: [RefreshStep] { steps.withLock { $0 } }
}

extension HTTPResponse {
  /// The answer to a refresh; members that are nil are left out.
  static func refreshed(
    _ accessToken: String, refreshToken: String? = nil, idToken: String? = nil, type: String = "Bearer",
    expiresIn: Int = 3600, scope: String? = nil, _ fields: [(String, String)] = []
  ) -> HTTPResponse {
    var members: [(String, JSONValue)] = [
      ("access_token", .string(accessToken)), ("token_type", .string(type)),
      ("expires_in", .number(String(expiresIn))),
    ]
    for (name, value) in [("refresh_token", refreshToken), ("id_token", idToken), ("scope", scope)] {
      if let value { members.append((name, .string(value))) }
    }
    return HTTPResponse(200, String(decoding: JSONValue.object(members).serialised(), as: UTF8.self), fields)
  }

  static func refused(_ code: String, status: Int = 400) -> HTTPResponse {
    HTTPResponse(status, #"{"error":"\#(code)"}"#)
  }

  /// Tokens `access-token-N` and `refresh-token-N` for the Nth request.
  static func rotated(_ number: Int, _ fields: [(String, String)] = []) -> HTTPResponse {
    .refreshed("access-token-\(number)", refreshToken: "refresh-token-\(number)", fields)
  }
}

/// Answers when the gate is open.
private struct GatedServer: HTTPSending {
  let server: ScriptedServer
  let gate: AsyncTurn?

  func send(_ request: HTTPRequest, timeout: Duration) async throws(HTTPSendFailure) -> HTTPResponse {
    if request.method == "POST", let gate {
      await gate.enter()
      gate.leave()
    }
    return try await server.send(request, timeout: timeout)
  }
}
