import CLinux
import Glibc
import Synchronization

/// Carries work from any thread onto one loop, in order, and wakes the loop.
package final class LoopMailbox: Sendable {
  /// Readable when there is mail.
  let wakeUpDescriptor: Int32
  private let letters = Mutex<[@Sendable () -> Void]>([])

  init() {
    wakeUpDescriptor = eventfd(0, Int32(EFD_NONBLOCK | EFD_CLOEXEC))
    precondition(wakeUpDescriptor >= 0, "eventfd: no descriptor left")
  }

  deinit { close(wakeUpDescriptor) }

  /// Queues `work` for the loop's thread.
  package func post(_ work: @escaping @Sendable () -> Void) {
    let wasEmpty = letters.withLock { letters in
      letters.append(work)
      return letters.count == 1
    }
    if wasEmpty { eventfd_write(wakeUpDescriptor, 1) }
  }

  /// Runs what has arrived; on the loop.
  func drain() {
    var count: eventfd_t = 0
    eventfd_read(wakeUpDescriptor, &count)
    for letter in letters.withLock({ letters in
      defer { letters.removeAll() }
      return letters
    }) { letter() }
  }
}
