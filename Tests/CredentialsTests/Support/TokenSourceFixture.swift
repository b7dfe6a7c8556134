import Cryptography
import EventLoop
import OAuth
import Locking

@testable import Credentials

/// A token source whose world is in the hands of the test.
struct TokenSourceFixture {
  let time = ManualTime()
  let fetcher: ScriptedFetcher
  let held = HeldSecrets()
  let sleep = ManualSleep()
  let source: TokenSource

  init(
    kind: TokenSourceKind = .clientCredentials,
    automatic: (@Sendable (Int) -> Result<FetchedToken, FetchFailure>)? = nil
  ) {
    fetcher = ScriptedFetcher(kind: kind, automatic: automatic)
    let sleep = sleep
    source = TokenSource(
      name: "acme", fetcher: fetcher, nonces: NonceCells(),
      environment: CredentialEnvironment(
        http: NoHTTP(), time: time, sleep: { await sleep.sleep($0) }, secrets: held.announcer))
  }

  /// Acquires, and has the fetch answered with `value`.
  func first(_ value: String = "t1", lifeSeconds: Int64? = 3600) async throws -> AccessToken {
    async let token = source.token()
    await fetcher.answer(value, lifeSeconds: lifeSeconds)
    return try await token
  }

  /// A source whose issuer answers at once with `t1`, `t2`, …
  static func issuing(lifeSeconds: Int64? = 3600) -> TokenSourceFixture {
    TokenSourceFixture { number in
      .success(.bearer("t\(number)", .issued(expiresInSeconds: lifeSeconds), expiresInSeconds: lifeSeconds))
    }
  }

  /// What a request gets that waits for a fetch which ends like this.
  func outcome(ofFetch result: Result<FetchedToken, FetchFailure>) async -> Result<AccessToken, TokenFailure> {
    let outcomes = Outcomes()
    source.acquire(waiter: outcomes.waiter)
    await fetcher.answer(result)
    await outcomes.atLeast(1)
    return outcomes.results[0]
  }

  /// Ends the fetch that runs in the background, and waits until the source has taken note.
  func fetchEnds(_ result: Result<FetchedToken, FetchFailure>) async {
    await fetcher.answer(result)
    while source.isFetching { await Task.yield() }
  }
}

extension AccessToken {
  /// The value, for comparing.
  var text: String { secret.revealedString() }
}

/// Collects what waiters are told.
final class Outcomes: Sendable {
  private struct State {
    var results: [Result<AccessToken, TokenFailure>] = []
    var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
  }
  private let state = Protected(State())

  var waiter: TokenSource.Waiter {
    { result in
      let ready = self.state.withLock { state in
        state.results.append(result)
        let ready = state.waiting.filter { $0.count <= state.results.count }
        state.waiting.removeAll { $0.count <= state.results.count }
        return ready
      }
      for entry in ready { entry.continuation.resume() }
    }
  }

  var results: [Result<AccessToken, TokenFailure>] { state.withLock { $0.results } }
  var texts: [String?] { results.map { (try? $0.get())?.text } }

  func atLeast(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.results.count < count { state.waiting.append((count, continuation)) }
        return state.results.count >= count
      }
      if isThere { continuation.resume() }
    }
  }
}
