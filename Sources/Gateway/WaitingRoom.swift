import Synchronization

/// How many requests wait for a token, over all loops.
final class WaitingRoom: Sendable {
  private let limit: Int
  private let count = Atomic(0)

  init(limit: Int) { self.limit = limit }

  /// - Returns: false when it is full; otherwise `leave` follows.
  func enter() -> Bool {
    if count.add(1, ordering: .relaxed).newValue <= limit { return true }
    leave()
    return false
  }

  func leave() { count.subtract(1, ordering: .relaxed) }
}
