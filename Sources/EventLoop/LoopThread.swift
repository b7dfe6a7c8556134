import CLinux
import Glibc
import Locking

/// A thread that runs one event loop.
package final class LoopThread: Sendable {
  package let mailbox: LoopMailbox
  private let loop: LoopReference
  private let thread: NamedThread

  /// Starts the thread, runs `prepare` on it with its loop, then the loop until `stop()`.
  ///
  /// - Parameter prepare: makes everything that hangs on the loop; runs before this initialiser returns.
  package init(name: String, prepare: @escaping @Sendable (EventLoop) -> Void) {
    let ready = ThreadGate()
    let reference = LoopReference()
    thread = NamedThread(name: name) {
      let loop = EventLoop()
      reference.set(loop)
      prepare(loop)
      ready.open()
      loop.run()
      reference.clear()
    }
    ready.wait()
    loop = reference
    mailbox = reference.mailbox
  }

  /// Ends the loop after the current round of events. What hangs on it is released on its thread.
  package func stop() { mailbox.post { [loop] in loop.stop() } }

  package func join() { thread.join() }
}

/// The loop of a `LoopThread`, opened only on that thread.
private final class LoopReference: @unchecked Sendable {  // written before `ready`, then used by its own thread only
  private var loop: EventLoop?
  private var mail: LoopMailbox?

  var mailbox: LoopMailbox {
    guard let mail else { preconditionFailure("the loop's thread has not started") }
    return mail
  }
  func set(_ loop: EventLoop) {
    self.loop = loop
    mail = loop.mailbox
  }
  func stop() { loop?.stop() }
  func clear() { loop = nil }
}

/// A joinable POSIX thread with a name that `top -H` shows.
package final class NamedThread: @unchecked Sendable {  // `handle` is written once in init, read afterwards
  private var handle = pthread_t()
  private let joined = Protected(false)

  private final class Start {
    let name: String
    let body: @Sendable () -> Void
    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  package init(name: String, body: @escaping @Sendable () -> Void) {
    // Retained once for the new thread, which takes the reference over.
    let start = Unmanaged.passRetained(Start(name: name, body: body))
    let failure = pthread_create(
      &handle, nil,
      { context in
        guard let context else { return nil }
        let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
        proofd_name_thread(start.name)
        start.body()
        return nil
      }, start.toOpaque())
    precondition(failure == 0, "pthread_create: no thread left")
  }

  /// A thread that nobody joined gives its memory back when it ends.
  deinit { if !joined.withLock({ $0 }) { pthread_detach(handle) } }

  /// Waits for the thread to end, whoever else waits; when it has ended, returns at once.
  package func join() {
    joined.withLock { joined in
      if !joined { pthread_join(handle, nil) }
      joined = true
    }
  }
}

/// Opens once; everyone who waits passes.
package final class ThreadGate: Sendable {
  private let semaphore = Semaphore()
  package init() {}
  package func open() { semaphore.signal() }
  package func wait() {
    semaphore.wait()
    semaphore.signal()
  }
}
