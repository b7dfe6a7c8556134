/// Memory for what is read of many connections in one round of events, before any of it is looked at.
///
/// It is packed, so that a round touches as much of it as has arrived. Why: see `EventLoop`.
package final class RoundInput {
  private static let byteCount = 524_288

  private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: RoundInput.byteCount, alignment: 64)
  private var used = 0

  deinit { memory.deallocate() }

  /// Where up to `byteCount` bytes may be read to; nil when this round has used it up.
  package func room(_ byteCount: Int) -> UnsafeMutableRawBufferPointer? {
    guard byteCount <= memory.count - used else { return nil }
    return UnsafeMutableRawBufferPointer(rebasing: memory[used..<used + byteCount])
  }

  /// Keeps the first `byteCount` bytes of the room until the round is over.
  package func keep(_ byteCount: Int) -> UnsafeRawBufferPointer {
    precondition(byteCount <= memory.count - used)
    defer { used += byteCount }
    return UnsafeRawBufferPointer(rebasing: memory[used..<used + byteCount])
  }

  func clear() { used = 0 }
}
