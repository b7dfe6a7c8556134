import Foundation

/// One thread that runs the jobs of one actor, so that its blocking calls hold up nobody: the daemon's control plane lives on
/// the concurrency pool, and a test that blocked the pool's threads while it waits for a token would wait for ever.
final class ThreadExecutor: SerialExecutor, @unchecked Sendable {  // guarded by `condition`
  private let condition = NSCondition()
  private var jobs: [UnownedJob] = []
  private var isOver = false

  /// The thread keeps the executor alive until `shutdown()`.
  init() {
    let thread = Thread { while let job = self.next() { job.runSynchronously(on: self.asUnownedSerialExecutor()) } }
    thread.stackSize = 1 << 20
    thread.start()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    condition.withLock {
      jobs.append(job)
      condition.signal()
    }
  }

  /// Ends the thread once all jobs are done.
  func shutdown() {
    condition.withLock {
      isOver = true
      condition.signal()
    }
  }

  private func next() -> UnownedJob? {
    condition.withLock {
      while jobs.isEmpty, !isOver { condition.wait() }
      return jobs.isEmpty ? nil : jobs.removeFirst()
    }
  }
}
