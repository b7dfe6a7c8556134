import EventLoop

/// Work that blocks, on a thread of its own, so that it holds up neither a loop nor the threads of Swift concurrency.
enum BlockingWork {
  /// - Parameter name: what `top -H` shows; 15 bytes at most.
  static func run<R: Sendable>(named name: String, _ body: @escaping @Sendable () -> R) async -> R {
    var thread: NamedThread?
    let result = await withCheckedContinuation { continuation in
      thread = NamedThread(name: name) { continuation.resume(returning: body()) }
    }
    thread?.join()  // it has said its last word
    return result
  }
}
