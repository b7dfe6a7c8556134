import Synchronization

/// How many body bytes the process keeps, over all loops and requests: for replays, while they wait to be passed on, and
/// of refused answers. A count that loops share; no lock.
final class KeptBytesBudget: Sendable {
  private let remaining: Atomic<Int>

  init(bytes: Int) { remaining = Atomic(bytes) }

  /// Below zero by what had been read already when nothing was left.
  var remainingBytes: Int { remaining.load(ordering: .relaxed) }

  /// Takes all of `count` bytes or nothing: whoever is refused takes nothing from others in the meantime.
  func take(_ count: Int) -> Bool {
    var known = remaining.load(ordering: .relaxed)
    while count <= known {
      let (exchanged, original) = remaining.weakCompareExchange(
        expected: known, desired: known - count, ordering: .relaxed)
      if exchanged { return true }
      known = original
    }
    return false
  }

  /// As `take`, for what must be kept in any case.
  func overdraw(_ count: Int) { remaining.subtract(count, ordering: .relaxed) }

  func giveBack(_ count: Int) { remaining.add(count, ordering: .relaxed) }
}
