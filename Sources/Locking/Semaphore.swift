import Glibc

/// A count of things that are there to be taken: who finds none waits for one.
package struct Semaphore: ~Copyable, @unchecked Sendable {  // POSIX semaphores guard themselves
  /// In memory of its own: it may not move while somebody waits.
  private let semaphore: UnsafeMutablePointer<sem_t>

  package init() {
    semaphore = .allocate(capacity: 1)
    semaphore.initialize(to: sem_t())
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  package borrowing func signal() { sem_post(semaphore) }

  package borrowing func wait() {
    // Only a signal to the process breaks it off.
    while sem_wait(semaphore) != 0 {}
  }
}
