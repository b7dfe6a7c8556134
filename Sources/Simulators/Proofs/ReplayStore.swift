import Locking

/// The `jti` values a server has seen, so that each proof is good once. RFC 9449 §11.1
final class ReplayStore: Sendable {
  /// Above this number the oldest are forgotten.
  static let entriesMax = 262_144

  fileprivate struct State {
    var seen: Set<String> = []
    /// `seen` in order of arrival, from `oldest` on.
    var order: [String] = []
    var oldest = 0
  }

  private let state = Protected(State())

  /// - Returns: false if that key has used that `jti` before.
  func insert(jti: String, key: String) -> Bool {
    let entry = "\(key) \(jti)"
    return state.withLock { state in
      guard state.seen.insert(entry).inserted else { return false }
      state.order.append(entry)
      if state.seen.count > Self.entriesMax { state.forgetOldest() }
      return true
    }
  }
}

extension ReplayStore.State {
  fileprivate mutating func forgetOldest() {
    seen.remove(order[oldest])
    oldest += 1
    if oldest == ReplayStore.entriesMax / 2 {
      order.removeFirst(oldest)
      oldest = 0
    }
  }
}
