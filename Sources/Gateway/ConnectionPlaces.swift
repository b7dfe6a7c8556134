import Locking
import Synchronization

/// The places for client connections, over all loops. Loops that find none wait in turn: else one that takes every place
/// it leaves again would keep the others out.
final class ConnectionPlaces: Sendable {
  typealias Waiter = @Sendable () -> Void

  private let places: Places
  private let waiters = Protected<[Waiter]>([])
  private let waiterCount = Atomic(0)

  init(limit: Int) { places = Places(limit: limit) }

  var isFull: Bool { places.isFull }

  /// - Returns: false when all are taken; otherwise `leave` follows.
  func enter() -> Bool { places.enter() }

  func leave() {
    places.leave()
    callNext()
  }

  /// - Parameter waiter: called once, on any thread, when there may be a place. It may be gone again by then.
  func wait(_ waiter: @escaping Waiter) {
    waiters.withLock { $0.append(waiter) }
    waiterCount.add(1, ordering: .sequentiallyConsistent)
    // Who left before the count was there has not seen it.
    if !isFull { callNext() }
  }

  private func callNext() {
    guard waiterCount.load(ordering: .sequentiallyConsistent) > 0 else { return }
    let next = waiters.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    guard let next else { return }
    waiterCount.subtract(1, ordering: .sequentiallyConsistent)
    next()
  }
}
