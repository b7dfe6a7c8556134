import EventLoop
import Locking

/// Everything the simulators received, in order of arrival, secrets included: tests search for them.
package final class Journal: Sendable {
  private struct State {
    /// Sequence numbers are contiguous, from `first` on.
    var entries: [JournalEntry] = []
    var dropped = 0
    var first = 1
    var waiters: [Int: Waiter] = [:]
    var lastWaiter = 0
  }

  private struct Waiter {
    var isSatisfied: @Sendable ([JournalEntry]) -> Bool
    var continuation: CheckedContinuation<Bool, Never>
    /// Ends the wait in vain; cancelled when it is over before.
    var timer: Task<Void, any Error>?

    func satisfy() {
      timer?.cancel()
      continuation.resume(returning: true)
    }
  }

  /// Above this number the oldest half is dropped.
  package let entriesMax: Int
  private let redactsSecrets: Bool
  private let time: any TimeSource
  private let state = Protected(State())

  init(entriesMax: Int, redactsSecrets: Bool, time: any TimeSource) {
    self.entriesMax = max(2, entriesMax)
    self.redactsSecrets = redactsSecrets
    self.time = time
  }

  /// The entries that are kept, in order of arrival.
  package func entries(role: Role? = nil, path: String? = nil) -> [JournalEntry] {
    state.withLock(\.entries).filter { (role == nil || $0.role == role) && (path == nil || $0.path == path) }
  }

  /// How many entries are kept.
  package func count(role: Role? = nil, path: String? = nil) -> Int { entries(role: role, path: path).count }

  /// How many entries were dropped because there were too many.
  package var dropped: Int { state.withLock(\.dropped) }

  /// Forgets all entries. What is still in work is not recorded any more.
  package func clear() {
    state.withLock {
      $0.first += $0.entries.count
      $0.entries = []
      $0.dropped = 0
    }
  }

  /// Waits until the entries satisfy a condition, which is looked at whenever something changes.
  ///
  /// - Returns: false if that did not happen in time.
  package func wait(
    upTo timeout: Duration = .seconds(10), until isSatisfied: @escaping @Sendable ([JournalEntry]) -> Bool
  ) async -> Bool {
    await withCheckedContinuation { continuation in
      let number = state.withLock { state -> Int? in
        if isSatisfied(state.entries) { return nil }
        state.lastWaiter += 1
        state.waiters[state.lastWaiter] = Waiter(isSatisfied: isSatisfied, continuation: continuation)
        return state.lastWaiter
      }
      guard let number else { return continuation.resume(returning: true) }
      let timer = Task {
        try await Task.sleep(for: timeout)
        state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume(returning: false)
      }
      let isWaiting = state.withLock { state in
        state.waiters[number]?.timer = timer
        return state.waiters[number] != nil
      }
      if !isWaiting { timer.cancel() }
    }
  }

  /// Begins an entry; `head` is nil if it could not be read.
  ///
  /// - Returns: the sequence number, by which the entry is completed.
  func open(_ role: Role, connection: Int, _ head: ReceivedHead?) -> Int {
    let now = time.wallNanoseconds / 1_000_000
    return change { state in
      if state.entries.count >= entriesMax {
        let surplus = entriesMax / 2
        state.entries.removeFirst(surplus)
        state.first += surplus
        state.dropped += surplus
      }
      let sequence = state.first + state.entries.count
      state.entries.append(
        JournalEntry(
          role: role, sequence: sequence, connection: connection, receivedAtUnixMilliseconds: now,
          method: head?.method ?? "",
          target: head.map { redactsSecrets ? JournalRedaction.redact(target: $0.target) : $0.target } ?? "",
          fields: (head?.fields ?? []).map { redactsSecrets ? JournalRedaction.redact($0) : $0 }))
      return sequence
    }
  }

  /// Adds to an entry, unless it was dropped or cleared.
  func update(_ sequence: Int, _ body: (inout JournalEntry) -> Void) {
    change { state in
      let index = sequence - state.first
      guard state.entries.indices.contains(index) else { return }
      body(&state.entries[index])
      if redactsSecrets { JournalRedaction.redact(&state.entries[index]) }
    }
  }

  /// Changes the state and then wakes those whose condition has become true.
  private func change<R: Sendable>(_ body: (inout State) -> R) -> R {
    let (result, satisfied) = state.withLock { state in
      let result = body(&state)
      let satisfied = state.waiters.filter { $0.value.isSatisfied(state.entries) }
      for number in satisfied.keys { state.waiters[number] = nil }
      return (result, Array(satisfied.values))
    }
    for waiter in satisfied { waiter.satisfy() }
    return result
  }
}
