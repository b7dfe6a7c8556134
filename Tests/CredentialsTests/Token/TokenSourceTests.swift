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
}
