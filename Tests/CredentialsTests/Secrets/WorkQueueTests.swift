import Locking
import Testing

@testable import Credentials

struct WorkQueueTests {
  @Test func `work is done one piece at a time, and all of it`() async {
    let queue = WorkQueue(name: "test")
    let share = Share()
    await withTaskGroup(of: Int.self) { group in
      for number in 0..<500 {
        group.addTask {
          await queue.run {
            share.enter()
            share.leave()
            return number
          }
        }
      }
      var sum = 0
      for await number in group { sum += number }
      #expect(sum == 124_750)
    }
    #expect(share.counts.most == 1 && share.counts.done == 500)
  }

  @Test func `it works again after it had nothing to do`() async {
    let queue = WorkQueue(name: "test")
    for number in 0..<50 { #expect(await queue.run { number } == number) }
  }
}

private final class Share: Sendable {
  private let state = Protected((running: 0, most: 0, done: 0))

  func enter() {
    state.withLock { state in
      state.running += 1
      state.most = max(state.most, state.running)
    }
  }

  func leave() {
    state.withLock { state in
      state.running -= 1
      state.done += 1
    }
  }

  var counts: (most: Int, done: Int) { state.withLock { ($0.most, $0.done) } }
}
