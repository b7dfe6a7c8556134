import Glibc

/// One POSIX thread that runs a closure to its end and is then joined, exactly once.
///
/// The simulators block: a thread per connection reads like the protocol it speaks, and shares nothing with the event
/// loops it is used to test.
final class WorkerThread: Sendable {
  /// Enough for a signature verification in a debug build; only touched pages cost memory.
  static let stackBytes = 1 << 20

  private let handle: pthread_t

  /// - Throws: ``SimulatorError/thread(_:)`` if the system has no thread left.
  init(_ body: @escaping @Sendable () -> Void) throws(SimulatorError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, Self.stackBytes)
    var handle = pthread_t()
    // The box is released by the thread that runs it.
    let box = Unmanaged.passRetained(Body(run: body))
    let status = pthread_create(
      &handle, &attributes,
      { context in
        guard let context else { return nil }
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, box.toOpaque())
    guard status == 0 else {
      box.release()
      throw .thread(status)
    }
    self.handle = handle
  }

  /// Waits for the closure to return. Must be called once, and not by the thread itself.
  func join() {
    pthread_join(handle, nil)
  }

  private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
  }
}
