import EventLoop
import Locking
import Testing

@testable import Tracing

/// Collects what a subscription delivers, and asks for more only if told to.
private final class Watcher: Sendable {
  private struct State {
    var text = ""
    var deliveryCount = 0
    var subscription: Subscription?
    var waiting: (text: String, gate: ThreadGate)?
  }

  private let state = Protected(State())
  private let asksAgain: Bool

  init(asksAgain: Bool = true) { self.asksAgain = asksAgain }

  func watch(_ hub: RecordHub, last: Int = 0) -> Subscription {
    let subscription = hub.subscribe(last: last) { [self] lines in took(lines) }
    state.withLock { $0.subscription = subscription }
    return subscription
  }

  private func took(_ lines: [UInt8]) {
    let subscription = state.withLock { state in
      state.text += String(decoding: lines, as: UTF8.self)
      state.deliveryCount += 1
      if let waiting = state.waiting, state.text.contains(waiting.text) { waiting.gate.open() }
      return state.subscription
    }
    if asksAgain { subscription?.request() }
  }

  /// Waits until the line with this number has come.
  func wait(for number: Int) { wait(for: "{\"number\":\(number)}") }

  func wait(for text: String) {
    let gate = ThreadGate()
    state.withLock { state in
      if state.text.contains(text) { gate.open() } else { state.waiting = (text, gate) }
    }
    gate.wait()
  }

  var lines: [String] { state.withLock { $0.text.lines } }
  var deliveryCount: Int { state.withLock { $0.deliveryCount } }
}

@Suite struct SubscriptionTests {
  private func batch(_ numbers: Range<Int>) -> LineBatch {
    LineBatch(bytes: Array(numbers.map { "{\"number\":\($0)}\n" }.joined().utf8), lineCount: numbers.count)
  }

  private func numbers(_ range: Range<Int>) -> [String] { range.map { "{\"number\":\($0)}" } }

  @Test func `a subscriber sees the last lines and then each new one, once and in order`() throws {
    let hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets())
    defer { hub.flushAndClose() }
    for number in 0..<100 { hub.submit(batch(number..<number + 1)) }
    hub.waitUntilWritten()
    let watcher = Watcher()
    #expect(!hub.isWatched)
    let subscription = watcher.watch(hub, last: 10)
    #expect(hub.isWatched)
    subscription.request()
    for number in 100..<200 { hub.submit(batch(number..<number + 1)) }
    watcher.wait(for: 199)
    #expect(watcher.lines == numbers(90..<200))
  }

  @Test func `nothing is delivered that was not asked for`() throws {
    let hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets())
    defer { hub.flushAndClose() }
    let watcher = Watcher(asksAgain: false)
    let subscription = watcher.watch(hub)
    hub.submit(batch(0..<1))
    hub.waitUntilWritten()
    #expect(watcher.deliveryCount == 0)
    subscription.request()
    watcher.wait(for: 0)
    hub.submit(batch(1..<2))
    hub.waitUntilWritten()
    #expect(watcher.deliveryCount == 1)
    subscription.request()
    watcher.wait(for: 1)
    #expect(watcher.lines == numbers(0..<2))
  }

  @Test func `a slow subscriber misses lines and learns how many; another misses none`() throws {
    var limits = LogLimits()
    limits.subscriberBytesMax = 4_096
    limits.deliveryBytesMax = 1_024
    let hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets(), limits: limits)
    defer { hub.flushAndClose() }
    let (slow, fast) = (Watcher(), Watcher())
    let slowSubscription = slow.watch(hub)
    fast.watch(hub).request()
    for number in 0..<1_000 {
      hub.submit(batch(number..<number + 1))
      fast.wait(for: number)
    }
    #expect(fast.lines == numbers(0..<1_000))
    #expect(slow.deliveryCount == 0)
    slowSubscription.request()
    slow.wait(for: "dropped")
    hub.submit(batch(1_000..<1_001))
    slow.wait(for: 1_000)
    let lines = slow.lines
    let notice = try #require(lines.first { $0.contains("\"event\":\"log\"") })
    let seen = lines.count { $0.contains("number") }
    #expect(notice.contains("\"dropped\":\(1_001 - seen)}"))
    #expect(lines.prefix(seen - 1) == numbers(0..<seen - 1)[...])
  }

  @Test func `a blocked output does not keep lines from subscribers`() throws {
    let pipe = TestPipe()
    _ = pipe.fill()
    var limits = LogLimits()
    limits.backlogBytesMax = 10_000
    let hub = try RecordHub(.descriptor(pipe.writer), heldSecrets: HeldSecrets(), limits: limits)
    let watcher = Watcher()
    watcher.watch(hub).request()
    for number in 0..<2_000 {
      hub.submit(batch(number..<number + 1))
      watcher.wait(for: number)
    }
    #expect(watcher.lines == numbers(0..<2_000))
    #expect(!hub.flushAndClose(timeout: .zero))
    pipe.closeWriter()
  }

  @Test func `a cancelled subscription gets nothing more`() throws {
    let hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets())
    defer { hub.flushAndClose() }
    let watcher = Watcher()
    let subscription = watcher.watch(hub)
    subscription.request()
    hub.submit(batch(0..<1))
    watcher.wait(for: 0)
    subscription.cancel()
    #expect(!hub.isWatched)
    hub.submit(batch(1..<2))
    hub.waitUntilWritten()
    #expect(watcher.lines == numbers(0..<1))
    subscription.request()
  }

  @Test func `a hub that is closed lets go of who still watches`() throws {
    let hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets())
    weak var watching: Watcher?
    do {
      let watcher = Watcher()
      _ = watcher.watch(hub)
      watching = watcher
    }
    #expect(watching != nil)
    hub.flushAndClose()
    #expect(watching == nil)
    #expect(!hub.isWatched)
  }

  @Test func `a log is wanted at once only while somebody watches`() throws {
    let hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets())
    defer { hub.flushAndClose() }
    let log = LoopLog(hub: hub)
    RecordDraft().withRecord { log.append($0) }
    #expect(!log.wantsFlush)
    let subscription = Watcher().watch(hub)
    #expect(log.wantsFlush)
    log.flush()
    #expect(!log.wantsFlush)
    subscription.cancel()
  }
}
