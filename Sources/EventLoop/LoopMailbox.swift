import CLinux
import Glibc
import Locking

/// Carries work from any thread onto one loop, in order, and wakes the loop.
package final class LoopMailbox: Sendable {
  private struct State {
    var letters: [@Sendable () -> Void] = []
    var isClosed = false
  }

  /// Readable when there is mail.
  let wakeUpDescriptor: Int32
  private let state = Protected(State())

  init() {
    wakeUpDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    precondition(wakeUpDescriptor >= 0, "eventfd: no descriptor left")
  }

  deinit { Glibc.close(wakeUpDescriptor) }

  /// Queues `work` for the loop's thread. When the loop has ended, `work` is dropped and never runs: what must be
  /// answered in any case answers when it is freed.
  package func post(_ work: @escaping @Sendable () -> Void) {
    let isFirst = state.withLock { state in
      guard !state.isClosed else { return false }
      state.letters.append(work)
      return state.letters.count == 1
    }
    if isFirst { eventfd_write(wakeUpDescriptor, 1) }
  }

  /// Runs what has arrived; on the loop.
  func drain() {
    var count: eventfd_t = 0
    eventfd_read(wakeUpDescriptor, &count)
    for letter in takeLetters() { letter() }
  }

  /// Drops what was not read and whatever comes; on the loop, which has ended.
  func close() {
    state.withLock { $0.isClosed = true }
    _ = takeLetters()
  }

  private func takeLetters() -> [@Sendable () -> Void] {
    state.withLock { state in
      defer { state.letters = [] }
      return state.letters
    }
  }
}
