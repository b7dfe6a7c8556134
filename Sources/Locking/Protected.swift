package import Glibc

/// A value behind a lock: who wants it waits until it is free. For short work: whoever
/// does long work inside makes others wait for it, and whoever comes back to the same lock waits for ever.
///
/// A POSIX mutex and not `Synchronization.Mutex`, because the thread sanitizer must see it. That one takes its slow path
/// inside the toolchain's library, in a futex system call: the sanitizer does not know of it, misses that one holder came after
/// the other, and reports every value two threads fought for. Uncontended both cost the same.
///
///     private let state = Protected(State())
///     func count() -> Int { state.withLock { $0.count } }
package struct Protected<Value: ~Copyable>: ~Copyable, @unchecked Sendable {  // `value` is touched by the holder only
  /// In memory of their own: neither may move while it is in use.
  @usableFromInline let mutex: UnsafeMutablePointer<pthread_mutex_t>
  @usableFromInline let value: UnsafeMutablePointer<Value>

  package init(_ initial: consuming sending Value) {
    value = .allocate(capacity: 1)
    value.initialize(to: initial)
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    // A thread that locks what it holds would wait for ever; of this kind it is told so.
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
    let failure = pthread_mutex_init(mutex, &attributes)
    precondition(failure == 0, "pthread_mutex_init: \(failure)")
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
    value.deinitialize(count: 1)
    value.deallocate()
  }

  /// Runs `body` with the value, alone. Neither `body` nor what it calls may come back to this lock: that ends the process.
  @inlinable package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    let failure = pthread_mutex_lock(mutex)
    precondition(failure == 0, "this thread already holds the lock")
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value.pointee)
  }
}
