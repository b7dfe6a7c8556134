import EventLoop
import Locking

/// Work that blocks and of which only one piece can go on at a time anyway: on one thread, which is there while there is
/// some, in the order it comes. Any task.
final class WorkQueue: Sendable {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var isRunning = false
  }
  private let name: String
  private let state = Protected(State())

  /// - Parameter name: what `top -H` shows; 15 bytes at most.
  init(name: String) { self.name = name }

  func run<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
      let starts = state.withLock { state in
        state.jobs.append { continuation.resume(returning: body()) }
        defer { state.isRunning = true }
        return !state.isRunning
      }
      if starts { _ = NamedThread(name: name) { self.work() } }
    }
  }

  /// Takes all that is there, until nothing is.
  private func work() {
    while true {
      let jobs = state.withLock { state in
        defer { state.jobs = [] }
        state.isRunning = !state.jobs.isEmpty
        return state.jobs
      }
      if jobs.isEmpty { return }
      for job in jobs { job() }
    }
  }
}
