package import EventLoop

/// A loop on the test's own thread, turned round by round until what the test waits for has happened.
///
/// Peers of the test are plain sockets on the same thread: the kernel carries bytes over loopback while neither side
/// runs, so nothing has to be synchronised and nothing is slept for.
package final class TurnedLoop: DeadlineTarget {
  /// What has not happened by then does not happen.
  package static let patienceNanoseconds: UInt64 = 20_000_000_000

  package let loop = EventLoop()
  private let watchdog: Deadline
  private var hasGivenUp = false

  package init() {
    watchdog = Deadline(on: loop)
    watchdog.bind(to: self)
  }

  deinit {
    watchdog.remove()
    // Ends everything that hangs on the loop.
    loop.stop()
    loop.run()
  }

  /// Turns the loop until `condition`, asked before the first round and after each, holds.
  ///
  /// - Returns: false when the loop gave up.
  package func turn(
    until condition: () -> Bool, patienceNanoseconds: UInt64 = TurnedLoop.patienceNanoseconds
  ) -> Bool {
    if condition() { return true }
    hasGivenUp = false
    // The watchdog's tick also ends rounds in which nothing happens on the loop itself.
    watchdog.set(after: patienceNanoseconds)
    var holds = false
    loop.run {
      holds = condition()
      return !holds && !hasGivenUp
    }
    watchdog.remove()
    return holds
  }

  /// Turns the loop through `rounds` rounds, so that everything that is due now has happened.
  package func settle(rounds: Int = 3) {
    for _ in 0..<rounds {
      var isOver = false
      loop.nextRound { isOver = true }
      _ = turn { isOver }
    }
  }

  package func deadlinePassed(_ deadline: Deadline) { hasGivenUp = true }
}
