import EventLoop
import OAuth
import Testing

@testable import Credentials

struct TokenLifetimeTests {
  @Test(
    arguments: [
      (3600, 2880, 3570, 3600), (300, 240, 270, 300), (60, 48, 54, 60), (5, 4, 4.5, 5), (1, 0.8, 0.9, 1),
      (0, 0.8, 0.9, 1), (nil, 4, 4.5, 5),
    ] as [(Int64?, Double, Double, Double)])
  func `a token is refreshed at 80 %, waited for at its margin and ends at its end`(
    expiresIn: Int64?, refresh: Double, wait: Double, end: Double
  ) {
    let lifetime = TokenLifetime.issued(expiresInSeconds: expiresIn)
    #expect(Double(lifetime.refreshAfterNanoseconds) == refresh * 1e9)
    #expect(Double(lifetime.waitAfterNanoseconds) == wait * 1e9)
    #expect(Double(lifetime.endsAfterNanoseconds) == end * 1e9)
  }

  @Test(arguments: [0, 1, 2, 5, nil] as [Int64?])
  func `however short a token lives, a thousand requests in a second are two fetches at most`(
    lifeSeconds: Int64?
  ) async throws {
    let fixture = TokenSourceFixture.issuing(lifeSeconds: lifeSeconds)
    for _ in 0..<1_000 {
      _ = try await fixture.source.token()
      while fixture.source.isFetching { await Task.yield() }
      fixture.time.advance(by: .milliseconds(1))
    }
    #expect(fixture.fetcher.fetches <= 2)
  }

  @Test(arguments: [0, 1, 5, nil] as [Int64?])
  func `a short token serves all that waited for it`(lifeSeconds: Int64?) async throws {
    let fixture = TokenSourceFixture()
    let outcomes = Outcomes()
    for _ in 0..<50 { fixture.source.acquire(waiter: outcomes.waiter) }
    await fixture.fetcher.answer("t1", lifeSeconds: lifeSeconds)
    await outcomes.atLeast(50)
    #expect(outcomes.texts.allSatisfy { $0 == "t1" })
    #expect(fixture.fetcher.fetches == 1)
  }

  @Test func `a token that does not say how long it lives is not used for long`() async throws {
    let fixture = TokenSourceFixture.issuing(lifeSeconds: nil)
    let token = try await fixture.source.token()
    #expect(token.expiresAtUnixSeconds == nil)
    fixture.time.advance(by: .seconds(5))
    #expect(fixture.source.current() == nil)
    #expect(try await fixture.source.token().text == "t2")
  }

  @Test func `C59 a token ends when the wall clock or the boot clock says so`() async throws {
    let byWall = TokenSourceFixture.issuing()
    _ = try await byWall.source.token()
    byWall.time.setWall(seconds: byWall.time.wallNanoseconds / 1_000_000_000 + 3600)
    #expect(byWall.source.current() == nil)

    let byBoot = TokenSourceFixture.issuing()
    let token = try await byBoot.source.token()
    byBoot.time.setWall(seconds: 1_000_000_000)  // years back
    #expect(byBoot.source.current() === token)
    byBoot.time.advance(by: .seconds(3600))
    #expect(byBoot.source.current() == nil)
  }

  @Test func `a token in use is renewed by a timer before anybody has to wait`() async throws {
    let fixture = TokenSourceFixture.issuing()
    _ = try await fixture.source.token()
    fixture.time.advance(by: .seconds(2880))
    #expect(await fixture.sleep.end() == .seconds(2880))
    while fixture.source.current()?.text != "t2" { await Task.yield() }
    // Asking was a use at 80 %, so it is the same whoever started it: one fetch.
    #expect(fixture.fetcher.fetches == 2)
  }

  @Test func `a timer alone renews what was used, and lets go what was not`() async throws {
    let fixture = TokenSourceFixture.issuing()
    _ = try await fixture.source.token()
    fixture.time.advance(by: .seconds(2880))
    #expect(await fixture.sleep.end() == .seconds(2880))
    while fixture.fetcher.fetches < 2 || fixture.source.isFetching { await Task.yield() }
    // t2 came by the timer and nobody used it since.
    let renewal = fixture.source.renewal
    fixture.time.advance(by: .seconds(2880))
    #expect(await fixture.sleep.end() == .seconds(2880))
    await renewal?.value
    #expect(!fixture.source.isFetching)
    #expect(fixture.fetcher.fetches == 2)
    fixture.time.advance(by: .seconds(720))
    #expect(try await fixture.source.token().text == "t3")
  }
}

struct FetchBackoffTests {
  private func pauses(_ failures: [FetchFailure]) -> [Int64] {
    let time = ManualTime()
    var backoff = FetchBackoff()
    return failures.map { failure in
      let now = Moment(time)
      backoff.failed(failure, at: now)
      var milliseconds: Int64 = 0
      while backoff.isOn(at: Moment(time)) {
        time.advance(by: .milliseconds(500))
        milliseconds += 500
      }
      return milliseconds
    }
  }

  @Test func `an issuer that is down is tried after 0.5 s and then half as often each time, up to a minute`() {
    #expect(pauses(Array(repeating: .down, count: 9)) == [500, 1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000])
  }

  @Test func `a set-up mistake is tried after 5 s, up to five minutes`() {
    #expect(
      pauses(Array(repeating: .invalidClient, count: 8))
        == [5000, 10000, 20000, 40000, 80000, 160000, 300000, 300000])
  }

  @Test func `another kind of failure starts the count anew, a success ends it`() {
    #expect(pauses([.down, .down, .invalidClient, .down]) == [500, 1000, 5000, 500])
    var backoff = FetchBackoff()
    let now = Moment(ManualTime())
    backoff.failed(.down, at: now)
    backoff.succeeded()
    #expect(!backoff.isOn(at: now))
    #expect(backoff.last == nil)
  }

  @Test func `Retry-After is honoured up to an hour, and never shortens the pause`() {
    var asking = FetchFailure.down
    asking.retryAfter = .seconds(90)
    #expect(pauses([asking]) == [90_000])
    asking.retryAfter = .seconds(1_000_000)
    #expect(pauses([asking]) == [3_600_000])
    asking.retryAfter = .zero
    #expect(pauses([asking]) == [500])
  }

  @Test func `a request is told when to come again`() {
    let time = ManualTime()
    var backoff = FetchBackoff()
    var asking = FetchFailure.down
    asking.retryAfter = .milliseconds(90_100)
    backoff.failed(asking, at: Moment(time))
    #expect(backoff.failure(at: Moment(time)) == .unavailable(detail: asking.detail, retryAfterSeconds: 91))
    time.advance(by: .seconds(200))
    #expect(backoff.failure(at: Moment(time)) == .unavailable(detail: asking.detail, retryAfterSeconds: 1))
    backoff.failed(.invalidClient, at: Moment(time))
    #expect(backoff.failure(at: Moment(time)) == .refused(detail: "the issuer says no"))
  }
}
