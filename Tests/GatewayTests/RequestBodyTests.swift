import HTTPWire
import Testing

@testable import Gateway

/// Keeping a body for a replay, within bounds (design §4.5).
struct RequestBodyTests {
  private func receive(_ text: String, _ body: inout RequestBody, passedOn: Bool, _ budget: KeptBytesBudget) {
    Array(text.utf8).withUnsafeBytes { body.receive($0, passedOn: passedOn, budget: budget) }
  }

  private func kept(_ body: borrowing RequestBody) -> String {
    body.withKept { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `a body within its limit is kept whole while it is sent`() {
    let budget = KeptBytesBudget(bytes: 100)
    var body = RequestBody()
    body.begin(.length(10), limitBytes: 10)
    receive("hello", &body, passedOn: true, budget)
    receive("world", &body, passedOn: true, budget)
    body.finish()
    let replayable = body.isReplayable
    #expect(replayable && kept(body) == "helloworld" && budget.remainingBytes == 90)
    body.release(budget: budget)
    #expect(budget.remainingBytes == 100)
  }

  @Test func `a body that outgrows its limit is passed on and forgotten`() {
    let budget = KeptBytesBudget(bytes: 100)
    var body = RequestBody()
    body.begin(.chunked, limitBytes: 6)
    receive("hello", &body, passedOn: true, budget)
    receive("world", &body, passedOn: true, budget)
    let replayable = body.isReplayable
    #expect(!replayable && kept(body) == "" && budget.remainingBytes == 100)
  }

  @Test func `what no stream has taken is never lost, whatever the limit`() {
    let budget = KeptBytesBudget(bytes: 100)
    var body = RequestBody()
    body.begin(.chunked, limitBytes: 6)
    receive("hello", &body, passedOn: false, budget)
    receive("world", &body, passedOn: false, budget)
    let replayable = body.isReplayable
    #expect(!replayable && kept(body) == "helloworld")
    body.handedOver(budget: budget)
    #expect(kept(body) == "" && budget.remainingBytes == 100)
  }

  @Test func `what waits counts against the budget, too, and room for it is taken before it is read`() {
    let budget = KeptBytesBudget(bytes: 8)
    var first = RequestBody()
    first.begin(.length(1_000), limitBytes: 6)
    let reserved = (first.reserve(5, within: budget), first.reserve(5, within: budget))
    #expect(reserved.0 && reserved.1 && budget.remainingBytes == 3)
    var second = RequestBody()
    second.begin(.chunked, limitBytes: 6)
    let refused = second.reserve(5, within: budget)
    receive("hell", &first, passedOn: false, budget)
    #expect(!refused && budget.remainingBytes == 4)
    let next = (first.reserve(5, within: budget), second.reserve(4, within: budget))
    #expect(!next.0 && next.1 && budget.remainingBytes == 0)
    receive("o world", &first, passedOn: false, budget)  // had been read with the head
    #expect(kept(first) == "hello world" && budget.remainingBytes == -7)
    first.handedOver(budget: budget)
    second.handedOver(budget: budget)
    #expect(budget.remainingBytes == 8)
  }

  @Test func `a waiting body has a limit of its own, whatever is left`() {
    let budget = KeptBytesBudget(bytes: 1 << 20)
    var body = RequestBody()
    body.begin(.chunked, limitBytes: 1 << 20)
    receive(String(repeating: "x", count: RequestBody.waitingBytesMax - 1), &body, passedOn: false, budget)
    let before = body.reserve(8, within: budget)
    receive("x", &body, passedOn: false, budget)
    let after = body.reserve(8, within: budget)
    body.release(budget: budget)
    #expect(before && !after && budget.remainingBytes == 1 << 20)
  }

  @Test func `an announced length over the limit is not kept at all`() {
    let budget = KeptBytesBudget(bytes: 100)
    var body = RequestBody()
    body.begin(.length(7), limitBytes: 6)
    receive("x", &body, passedOn: true, budget)
    let replayable = body.isReplayable
    #expect(!replayable && kept(body) == "" && budget.remainingBytes == 100)
  }

  @Test func `all bodies together stay within the budget`() {
    let budget = KeptBytesBudget(bytes: 8)
    var first = RequestBody()
    first.begin(.chunked, limitBytes: 6)
    receive("hello", &first, passedOn: true, budget)
    var second = RequestBody()
    second.begin(.chunked, limitBytes: 6)
    receive("hello", &second, passedOn: true, budget)
    let replayable = (first.isReplayable, second.isReplayable)
    #expect(replayable.0 && !replayable.1 && budget.remainingBytes == 3)
    first.release(budget: budget)
    second.release(budget: budget)
    #expect(budget.remainingBytes == 8)
  }

  @Test func `a request without a body is complete from the start`() {
    var body = RequestBody()
    body.begin(.none, limitBytes: 6)
    let complete = (body.isComplete, body.isReplayable)
    #expect(complete.0 && complete.1)
  }
}
