import EventLoop
import OAuth
import Locking
import Testing

@testable import Credentials

/// An upstream behind a gateway that follows the replay rules, reduced to what counts here.
private struct Upstream {
  let source: TokenSource
  /// Whether it takes the token with this text.
  let accepts: @Sendable (String) -> Bool

  /// One request: the texts of the tokens it was sent with.
  func request() async -> [String] {
    var machine = ReplayMachine()
    guard var token = try? await source.token() else { return [] }
    var sent: [String] = []
    while true {
      sent.append(token.text)
      let signal = ResponseSignal(
        status: accepts(token.text) ? 200 : 401, challenge: accepts(token.text) ? .bare : .invalidToken,
        proofWasSent: false, bodyIsReplayable: true, tokenIsOld: false)
      switch machine.judge(signal) {
      case .deliver(.freshTokenRefused):
        _ = source.refused(token, afterRefresh: true)
        return sent
      case .deliver, .replayWithNonce: return sent
      case .refreshThenReplay:
        guard source.refused(token, afterRefresh: false), let fresh = await replacement(of: token) else { return sent }
        token = fresh
      }
    }
  }

  private func replacement(of token: AccessToken) async -> AccessToken? {
    await withCheckedContinuation { continuation in
      source.acquire(replacing: token) { continuation.resume(returning: try? $0.get()) }
    }
  }
}

struct RefusedTokenTests {
  let fixture = TokenSourceFixture.issuing()
  var source: TokenSource { fixture.source }
  var fetches: Int { fixture.fetcher.fetches }

  @Test func `a token that was revoked is replaced once and the request sent again`() async {
    let upstream = Upstream(source: source) { $0 != "t1" }
    #expect(await upstream.request() == ["t1", "t2"])
    #expect(await upstream.request() == ["t2"])
    #expect(fetches == 2)
  }

  @Test func `1,000 requests in sequence that are always refused cost two fetches at most`() async {
    let upstream = Upstream(source: source) { _ in false }
    #expect(await upstream.request() == ["t1", "t2"])
    for _ in 0..<999 { #expect(await upstream.request() == ["t2"]) }
    #expect(fetches == 2)
  }

  @Test func `1,000 requests in parallel that are always refused cost two fetches at most`() async {
    let upstream = Upstream(source: source) { _ in false }
    let sends = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<1_000 { group.addTask { await upstream.request().count } }
      return await group.reduce(into: 0, +=)
    }
    #expect(fetches == 2)
    #expect(sends <= 2_000)
  }

  @Test func `an upstream that never accepts costs fewer and fewer fetches as time goes by`() async {
    let upstream = Upstream(source: source) { _ in false }
    var fetchedAt: [Int] = []
    for second in 0..<240 {
      let before = fetches
      _ = await upstream.request()
      if fetches > before { fetchedAt.append(second) }
      fixture.time.advance(by: .seconds(1))
    }
    // The first also fetches t1. Then after 30 s, 60 s, 120 s.
    #expect(fetchedAt == [0, 30, 90, 210])
    #expect(fetches == 5)
  }

  @Test func `a token that served for a while counts anew`() async {
    let accepted = Protected<Set<String>>([])
    let upstream = Upstream(source: source) { text in accepted.withLock { $0.contains(text) } }
    #expect(await upstream.request() == ["t1", "t2"])
    fixture.time.advance(by: .seconds(30))
    accepted.withLock { $0 = ["t3"] }
    #expect(await upstream.request() == ["t2", "t3"])
    fixture.time.advance(by: .seconds(100))
    accepted.withLock { $0 = [] }
    #expect(await upstream.request() == ["t3", "t4"])
    fixture.time.advance(by: .seconds(30))
    accepted.withLock { $0 = ["t5"] }
    #expect(await upstream.request() == ["t4", "t5"])
  }

  @Test func `a token that came for a replay is not fetched anew by a request that meets it first`() async throws {
    let token = try await source.token()
    #expect(source.refused(token, afterRefresh: false))
    let outcomes = Outcomes()
    source.acquire(replacing: token, waiter: outcomes.waiter)
    await outcomes.atLeast(1)
    let fresh = try await source.token()
    #expect(fresh.text == "t2")
    // Another request starts with t2 and is refused before the replay's answer is known.
    #expect(!source.refused(fresh, afterRefresh: false))
    #expect(fetches == 2)
  }

  @Test func `late refusals of the old token are sent again with the new one and fetch nothing`() async throws {
    let old = try await source.token()
    #expect(source.refused(old, afterRefresh: false))
    let outcomes = Outcomes()
    source.acquire(replacing: old, waiter: outcomes.waiter)
    await outcomes.atLeast(1)
    #expect(source.refused(old, afterRefresh: false))
    source.acquire(replacing: old, waiter: outcomes.waiter)
    await outcomes.atLeast(2)
    #expect(outcomes.texts == ["t2", "t2"])
    #expect(fetches == 2)
    _ = source.refused(try await source.token(), afterRefresh: true)
    #expect(!source.refused(old, afterRefresh: false))
  }

  @Test func `a refusal while the token is being replaced anyway waits for what comes, each time`() async throws {
    let fixture = TokenSourceFixture()
    var token = try await fixture.first("t1", lifeSeconds: 10)
    for next in ["t2", "t3", "t4"] {
      fixture.time.advance(by: .seconds(8))
      #expect(fixture.source.current() === token)  // and the refresh ahead begins
      #expect(fixture.source.refused(token, afterRefresh: false))
      let outcomes = Outcomes()
      fixture.source.acquire(replacing: token, waiter: outcomes.waiter)
      await fixture.fetcher.answer(next, lifeSeconds: 10)
      await outcomes.atLeast(1)
      #expect(outcomes.texts == [next])
      token = try await fixture.source.token()
    }
    #expect(fixture.fetcher.fetches == 4)
  }

  @Test func `an issuer that gives the refused token again is no reason to send again`() async throws {
    let fixture = TokenSourceFixture { _ in .success(.bearer("same", .issued(expiresInSeconds: 3600))) }
    let token = try await fixture.source.token()
    #expect(fixture.source.refused(token, afterRefresh: false))
    let outcomes = Outcomes()
    fixture.source.acquire(replacing: token, waiter: outcomes.waiter)
    await outcomes.atLeast(1)
    #expect(outcomes.results == [.failure(TokenLife.unchanged)])
    #expect(!fixture.source.refused(try await fixture.source.token(), afterRefresh: false))
    #expect(fixture.fetcher.fetches == 2)
  }

  @Test func `a forced fetch that fails keeps the token and is not repeated at once`() async throws {
    let fixture = TokenSourceFixture()
    let token = try await fixture.first()
    #expect(fixture.source.refused(token, afterRefresh: false))
    let outcomes = Outcomes()
    fixture.source.acquire(replacing: token, waiter: outcomes.waiter)
    fixture.source.acquire(waiter: outcomes.waiter)
    await fixture.fetcher.answer(.failure(.down))
    await outcomes.atLeast(2)
    let down = TokenFailure.unavailable(detail: "the issuer did not answer", retryAfterSeconds: 1)
    #expect(
      Set(outcomes.results.map { "\($0)" }) == [
        "\(Result<AccessToken, TokenFailure>.failure(down))", "success(\(token))",
      ])
    #expect(!fixture.source.refused(token, afterRefresh: false))
    #expect(fixture.source.current() === token)
  }

  @Test(arguments: [TokenSourceKind.environment, .literal])
  func `a value that can't change is never worth replacing`(kind: TokenSourceKind) async throws {
    let fixture = TokenSourceFixture(kind: kind) { _ in .success(.bearer("fixed", .endless)) }
    let token = try await fixture.source.token()
    fixture.time.advance(by: .seconds(3600))
    #expect(!fixture.source.refused(token, afterRefresh: false))
    #expect(fixture.source.current() === token)
  }
}
