import EventLoop
import OAuth
import Testing

@testable import Credentials

struct TokenSourceTests {
  let fixture = TokenSourceFixture()
  var source: TokenSource { fixture.source }
  var fetcher: ScriptedFetcher { fixture.fetcher }
  var time: ManualTime { fixture.time }

  @Test func `a token is fetched once and then at hand`() async throws {
    #expect(source.current() == nil)
    let token = try await fixture.first()
    #expect(source.current() === token)
    #expect(try await source.token() === token)
    #expect(fetcher.fetches == 1)
  }

  @Test func `C63 200 parallel requests at expiry are one fetch`() async throws {
    _ = try await fixture.first()
    time.advance(by: .seconds(3600))
    let outcomes = Outcomes()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 { group.addTask { source.acquire(waiter: outcomes.waiter) } }
    }
    #expect(outcomes.results.isEmpty)
    await fetcher.answer("t2")
    await outcomes.atLeast(200)
    #expect(outcomes.texts.allSatisfy { $0 == "t2" })
    #expect(fetcher.fetches == 2)
  }

  @Test func `who leaves is forgotten at once, and the fetch goes on for those who stay, in order`() async throws {
    let outcomes = Outcomes()
    let order = Outcomes()
    let places = (0..<10).map { _ in source.acquire(waiter: outcomes.waiter) }
    source.acquire(waiter: order.waiter)
    #expect(source.waitingCount == 11)
    for place in places.dropLast() { source.leave(try #require(place)) }
    #expect(source.waitingCount == 2)
    await fetcher.answer("t1")
    await order.atLeast(1)
    #expect(outcomes.texts == ["t1"])  // it waited first and was told first
    #expect(source.waitingCount == 0 && fetcher.fetches == 1)
    for place in places { source.leave(try #require(place)) }  // too late, and no harm
    let place = source.acquire(waiter: outcomes.waiter)
    #expect(place == nil)
    #expect(outcomes.texts == ["t1", "t1"])
  }

  @Test func `at four fifths of its life a use starts the next fetch and does not wait for it`() async throws {
    let token = try await fixture.first()
    time.advance(by: .seconds(2879))
    #expect(source.current() === token)
    #expect(source.status().state == .ready)
    time.advance(by: .seconds(1))
    #expect(source.current() === token)
    await fetcher.started()
    #expect(source.current() === token)
    #expect(fetcher.fetches == 2)
    let outcomes = Outcomes()
    source.acquire(waiter: outcomes.waiter)
    #expect(outcomes.texts == ["t1"])
    await fetcher.answer("t2")  // a fetch that never ends would keep its task and its source
  }

  @Test func `within the last 30 s requests wait for the next token`() async throws {
    _ = try await fixture.first()
    time.advance(by: .seconds(3570))
    #expect(source.current() == nil)
    async let token = source.token()
    await fetcher.answer("t2")
    #expect(try await token.text == "t2")
  }

  @Test func `issuer down: the valid token serves until it really ends, then there is none`() async throws {
    let token = try await fixture.first()
    time.advance(by: .seconds(3580))
    #expect(await fixture.outcome(ofFetch: .failure(.down)) == .success(token))
    #expect(source.current() === token)
    #expect(source.status().canServe)
    time.advance(by: .seconds(19))
    #expect(source.current() === token)
    await fixture.fetchEnds(.failure(.down))
    time.advance(by: .milliseconds(999))
    #expect(source.current() === token)
    time.advance(by: .milliseconds(1))
    #expect(source.current() == nil)
    let after = await fixture.outcome(ofFetch: .failure(.down))
    #expect(after == .failure(.unavailable(detail: "the issuer did not answer", retryAfterSeconds: 2)))
    #expect(source.status().state == .unavailable)
  }

  @Test func `C67 a failure never takes a valid token away`() async throws {
    let token = try await fixture.first()
    for failure in [FetchFailure.down, .invalidClient] {
      time.advance(by: .seconds(3000 - (failure == .down ? 0 : 2700)))
      #expect(source.current() === token)
      await fixture.fetchEnds(.failure(failure))
      #expect(source.current() === token)
      #expect(source.status().canServe)
      #expect(source.status().lastFailure?.code == failure.code)
    }
  }

  @Test func `C71 a set-up mistake is told at once and not tried with every request`() async throws {
    let refused = Result<AccessToken, TokenFailure>.failure(.refused(detail: "the issuer says no"))
    #expect(await fixture.outcome(ofFetch: .failure(.invalidClient)) == refused)
    for _ in 0..<100 {
      let outcomes = Outcomes()
      source.acquire(waiter: outcomes.waiter)
      #expect(outcomes.results == [refused])
      time.advance(by: .milliseconds(49))
    }
    #expect(fetcher.fetches == 1)
    #expect(source.status().state == .refused)
    time.advance(by: .milliseconds(100))
    #expect(await fixture.outcome(ofFetch: .failure(.invalidClient)) == refused)
    #expect(fetcher.fetches == 2)
  }

  @Test func `a waiter that leaves does not stop the fetch`() async throws {
    let task = Task { try? await source.token() }
    await fetcher.started()
    task.cancel()
    await fetcher.answer("t1")
    while source.current() == nil { await Task.yield() }
    #expect(source.current()?.text == "t1")
    #expect(fetcher.fetches == 1)
    _ = await task.value
  }

  @Test func `a success after failures is as good as any`() async throws {
    _ = await fixture.outcome(ofFetch: .failure(.down))
    time.advance(by: .milliseconds(500))
    let token = try await fixture.first()
    #expect(source.current() === token)
    #expect(source.status().lastFailure == nil)
    #expect(source.status().state == .ready)
  }

  @Test func `every token has a generation of its own`() async throws {
    let first = try await fixture.first("same")
    time.advance(by: .seconds(3600))
    let second = try await fixture.first("same")
    #expect(first.generation != second.generation)
  }

  @Test(.timeLimit(.minutes(1))) func `the redactor knows the token and the one before, until the source goes`()
    async throws
  {
    let held: HeldSecrets
    do {
      let fixture = TokenSourceFixture()
      held = fixture.held
      for (number, expected) in [(1, ["t1"]), (2, ["t1", "t2"]), (3, ["t2", "t3"])] {
        _ = try await fixture.first("t\(number)")
        fixture.time.advance(by: .seconds(3600))
        #expect(held.all.keys.sorted() == expected)
      }
    }
    // The fetch lets go of the source a moment after it has served.
    while !held.all.isEmpty, !Task.isCancelled { await Task.yield() }
    #expect(held.all.isEmpty)
  }

  @Test func `status tells state, times, failure and what to do`() async throws {
    #expect(source.status().state == .idle)
    #expect(!source.status().canServe)
    let outcomes = Outcomes()
    source.acquire(waiter: outcomes.waiter)
    #expect(source.status().state == .refreshing)
    await fetcher.answer(.failure(.invalidClient))
    await outcomes.atLeast(1)
    let refused = source.status()
    #expect(refused.state == .refused)
    #expect(
      refused.lastFailure == .init(code: "invalid_client", detail: "the issuer says no", atUnixSeconds: 1_800_000_000))
    #expect(refused.next.contains("client_id") && refused.next.contains("in 5 s"))
    time.advance(by: .seconds(5))
    _ = try await fixture.first()
    let ready = source.status()
    #expect(ready.name == "acme")
    #expect(ready.kind == .clientCredentials)
    #expect(ready.expiresAtUnixSeconds == 1_800_003_605)
    #expect(ready.lastRefreshAtUnixSeconds == 1_800_000_005)
    time.advance(by: .seconds(3590))
    #expect(source.status().state == .expiring)
  }

  @Test func `nothing of a source prints its token`() async throws {
    let token = try await fixture.first("sentinel-token")
    let line = try #require(token.fieldLine)
    #expect(!"\(token) \(String(reflecting: token)) \(source.status()) \(line)".contains("sentinel"))
  }
}
