import Glibc
import Locking

/// Named gates at which requests wait until a test has seen enough.
package final class Gates: Sendable {
  /// How often a waiting request looks whether its gate is open.
  static let lookMilliseconds = 10

  private struct State {
    var open: Set<String> = []
    /// Grows with each `openAll`, which lets those through that wait at that moment.
    var generation = 0
    var waiting: [String: Int] = [:]
  }

  private let state = Protected(State())

  /// Lets those who wait at the gate, and all who come later, pass.
  package func open(_ gate: String) { state.withLock { _ = $0.open.insert(gate) } }

  /// Makes those who come from now on wait.
  package func close(_ gate: String) { state.withLock { _ = $0.open.remove(gate) } }

  /// How many wait at the gate now.
  package func waiting(at gate: String) -> Int { state.withLock { $0.waiting[gate] ?? 0 } }

  func openAll() { state.withLock { $0.generation += 1 } }

  /// - Parameter pause: waits for some milliseconds; throws when the wait must end.
  func wait(at gate: String, pause: (Int) throws(ConnectionFailure) -> Void) throws(ConnectionFailure) {
    let generation = state.withLock { state in
      state.waiting[gate, default: 0] += 1
      return state.generation
    }
    defer { state.withLock { $0.waiting[gate, default: 1] -= 1 } }
    while state.withLock({ !$0.open.contains(gate) && $0.generation == generation }) {
      try pause(Self.lookMilliseconds)
    }
  }
}
