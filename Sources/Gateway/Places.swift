import Synchronization

/// How many of something there may be at a time, over all loops: requests that wait for a token, client connections.
/// A count that loops share; no lock.
final class Places: Sendable {
  private let limit: Int
  private let taken = Atomic(0)

  init(limit: Int) { self.limit = limit }

  var isFull: Bool { taken.load(ordering: .sequentiallyConsistent) >= limit }

  /// Never refuses because of somebody who is refused as well.
  ///
  /// - Returns: false when all are taken; otherwise `leave` follows.
  func enter() -> Bool {
    var known = taken.load(ordering: .relaxed)
    while known < limit {
      let (exchanged, original) = taken.weakCompareExchange(
        expected: known, desired: known + 1, ordering: .sequentiallyConsistent)
      if exchanged { return true }
      known = original
    }
    return false
  }

  func leave() { taken.subtract(1, ordering: .sequentiallyConsistent) }
}
