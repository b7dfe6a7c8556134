import Testing

@testable import Tracing

enum BuildKind {
  static var isOptimised: Bool {
    var isOptimised = true
    assert({ isOptimised = false }() == ())
    return isOptimised
  }
}

/// Only optimised builds say anything: `swift test -c release -Xswiftc -enable-testing --filter RecordCostTests`.
@Suite(.enabled(if: BuildKind.isOptimised), .serialized) struct RecordCostTests {
  @Test(arguments: [
    ("/orders/42", 1_500), ("/orders/550e8400-e29b-41d4-a716-446655440000", 3_000),
    ("/orders?limit=10&offset=20", 3_000),
  ])
  func `a record costs a loop at most so many nanoseconds`(target: String, nanosecondsMax: Int) throws {
    let hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets())
    defer { hub.flushAndClose(timeout: .seconds(60)) }
    let log = LoopLog(hub: hub)
    let subject = RecordSubject(
      route: LogLabel("orders"), upstream: LogLabel(url: "https://api.example.com/v1/orders"))
    let draft = RecordDraft(target: target) { record in
      record.subject = subject
      record.status = 200
      record.source = .upstream
      record.durationNanoseconds = 812_345
      record.upstreamNanoseconds = 745_012
      record.auth = AuthEvents(.cached)
      record.reused = true
    }
    let rounds = (0..<7).map { _ in
      let before = ThreadTime.nanoseconds
      for _ in 0..<20_000 { draft.withRecord { log.append($0) } }
      return (ThreadTime.nanoseconds - before) / 20_000
    }
    let best = try #require(rounds.min())
    print("\(target): \(best) ns per record")
    #expect(best <= nanosecondsMax)
  }
}
