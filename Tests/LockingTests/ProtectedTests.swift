import Glibc
import Testing

@testable import Locking

@Suite struct ProtectedTests {
  private struct Refusal: Error {}
  private final class Tally: Sendable {
    let count = Protected(0)
    let turns: Int
    init(turns: Int) { self.turns = turns }
  }

  @Test func `no step of two threads is lost`() {
    let tally = Tally(turns: 50_000)
    let threads = (0..<2).map { _ in
      var thread = pthread_t()
      let failure = pthread_create(
        &thread, nil,
        { context in
          guard let context else { return nil }
          let tally = Unmanaged<Tally>.fromOpaque(context).takeRetainedValue()
          for _ in 0..<tally.turns { tally.count.withLock { $0 += 1 } }
          return nil
        }, Unmanaged.passRetained(tally).toOpaque())
      precondition(failure == 0)
      return thread
    }
    for thread in threads { pthread_join(thread, nil) }
    #expect(tally.count.withLock { $0 } == 2 * tally.turns)
  }

  @Test func `what throws gives the lock back and keeps what it changed`() {
    let value = Protected(1)
    #expect(throws: Refusal.self) {
      try value.withLock { value throws(Refusal) in
        value = 2
        throw Refusal()
      }
    }
    #expect(value.withLock { $0 } == 2)
  }

  @Test func `the value is freed with the lock`() {
    final class Guarded: Sendable {}
    weak var seen: Guarded?
    do {
      let value = Protected(Guarded())
      seen = value.withLock { $0 }
      #expect(seen != nil)
    }
    #expect(seen == nil)
  }

  @Test func `taking a lock twice ends the process instead of waiting for ever`() async {
    await #expect(processExitsWith: .failure) {
      let value = Protected(0)
      value.withLock { _ in value.withLock { $0 += 1 } }
    }
  }
}
