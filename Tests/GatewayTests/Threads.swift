import Glibc

/// Runs `body` on so many threads at once, and waits for their ends.
func onThreads(_ count: Int, _ body: @escaping @Sendable () -> Void) {
  final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
  let threads = (0..<count).map { _ in
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
        return nil
      }, Unmanaged.passRetained(Work(body)).toOpaque())
    precondition(failure == 0)
    return thread
  }
  for thread in threads { pthread_join(thread, nil) }
}
