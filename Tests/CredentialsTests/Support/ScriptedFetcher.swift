import Cryptography
import EventLoop
import HTTPWire
import OAuth
import Locking

@testable import Credentials

/// A credential whose fetches end when and how the test says.
final class ScriptedFetcher: TokenFetching {
  private struct State {
    var fetches = 0
    var running: CheckedContinuation<Result<FetchedToken, FetchFailure>, Never>?
    var started: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Protected(State())
  let kind: TokenSourceKind
  var warnings: [String] { [] }

  /// Answers each fetch at once, by its number, which starts at 1.
  private let automatic: (@Sendable (Int) -> Result<FetchedToken, FetchFailure>)?

  init(
    kind: TokenSourceKind = .clientCredentials,
    automatic: (@Sendable (Int) -> Result<FetchedToken, FetchFailure>)? = nil
  ) {
    self.kind = kind
    self.automatic = automatic
  }

  func failure(_ refusal: UnmaskableSecret) -> FetchFailure {
    FetchFailure(kind: .refused, code: refusal.code, detail: refusal.detail)
  }

  var fetches: Int { state.withLock { $0.fetches } }

  func fetch(replacing current: Secret?) async throws(FetchFailure) -> FetchedToken {
    if let automatic {
      let number = state.withLock { state in
        state.fetches += 1
        return state.fetches
      }
      return try automatic(number).get()
    }
    return try await withCheckedContinuation { continuation in
      let waiting = state.withLock { state in
        state.fetches += 1
        state.running = continuation
        defer { state.started = [] }
        return state.started
      }
      for waiter in waiting { waiter.resume() }
    }.get()
  }

  /// Waits until a fetch runs.
  func started() async {
    await withCheckedContinuation { continuation in
      let runs = state.withLock { state in
        if state.running == nil { state.started.append(continuation) }
        return state.running != nil
      }
      if runs { continuation.resume() }
    }
  }

  func answer(_ result: Result<FetchedToken, FetchFailure>) async {
    await started()
    let running = state.withLock { state in
      defer { state.running = nil }
      return state.running
    }
    running?.resume(returning: result)
  }

  func answer(_ value: String, lifeSeconds: Int64? = 3600) async {
    await answer(.success(.bearer(value, .issued(expiresInSeconds: lifeSeconds), expiresInSeconds: lifeSeconds)))
  }
}

extension FetchedToken {
  static func bearer(_ value: String, _ lifetime: TokenLifetime, expiresInSeconds: Int64? = nil) -> FetchedToken {
    FetchedToken(
      secret: Secret(utf8: value),
      placement: .field(name: "Authorization", value: Secret(utf8: "Bearer \(value)")), proofKey: nil,
      lifetime: lifetime, expiresInSeconds: expiresInSeconds)
  }
}

extension FetchFailure {
  static let down = FetchFailure(kind: .unavailable, code: "timeout", detail: "the issuer did not answer")
  static let invalidClient = FetchFailure(kind: .refused, code: "invalid_client", detail: "the issuer says no")
}

/// The secrets a redactor would know, with how often each is held.
final class HeldSecrets: Sendable {
  private let counts = Protected<[String: Int]>([:])
  /// Shorter ones are refused.
  private let bytesMin: Int

  init(bytesMin: Int = 0) { self.bytesMin = bytesMin }

  var announcer: SecretAnnouncer {
    SecretAnnouncer(
      hold: { [bytesMin] (secret) throws(UnmaskableSecret) in
        guard secret.count >= bytesMin else { throw .tooShort(bytesMin: bytesMin) }
        self.counts.withLock { $0[secret.revealedString(), default: 0] += 1 }
      },
      release: { secret in self.counts.withLock { $0[secret.revealedString(), default: 0] -= 1 } })
  }

  var all: [String: Int] { counts.withLock { $0.filter { $0.value != 0 } } }
}

/// Sends nothing.
struct NoHTTP: HTTPSending {
  func send(_ request: HTTPRequest, timeout: Duration) async throws(HTTPSendFailure) -> HTTPResponse {
    throw .unreachable("no network in this test")
  }
}

/// A sleeper that ends each sleep when the test says, or when its task is cancelled.
final class ManualSleep: Sendable {
  private struct Sleep {
    let number: Int
    let duration: Duration
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var count = 0
    var sleeps: [Sleep] = []
    var watchers: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Protected(State())

  func sleep(_ duration: Duration) async {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let watchers = state.withLock { state in
          state.sleeps.append(Sleep(number: number, duration: duration, continuation: continuation))
          defer { state.watchers = [] }
          return state.watchers
        }
        for watcher in watchers { watcher.resume() }
        if Task.isCancelled { wake(number) }
      }
    } onCancel: {
      wake(number)
    }
  }

  /// Waits for a sleep to begin, ends it and tells how long it was to be.
  func end() async -> Duration {
    while true {
      if let sleep = state.withLock({ $0.sleeps.isEmpty ? nil : $0.sleeps.removeFirst() }) {
        sleep.continuation.resume()
        return sleep.duration
      }
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if state.sleeps.isEmpty { state.watchers.append(continuation) }
          return !state.sleeps.isEmpty
        }
        if isThere { continuation.resume() }
      }
    }
  }

  private func wake(_ number: Int) {
    let sleep = state.withLock { state in
      state.sleeps.firstIndex { $0.number == number }.map { state.sleeps.remove(at: $0) }
    }
    sleep?.continuation.resume()
  }
}
