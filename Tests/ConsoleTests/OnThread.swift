import EventLoop

/// Runs `body`, which blocks, on a thread of its own: late answers are made on the concurrency pool, and a test that
/// blocked the pool's threads while it waits for one would wait for ever.
func onThread(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { continuation in
    _ = NamedThread(name: "test") { continuation.resume(with: Result { try body() }) }
  }
}
