import CLibevent
import Glibc

/// What a loop keeps and must end in order, on its thread, when the loop ends.
package protocol LoopResident: AnyObject {
  func loopEnds()
}

/// One libevent loop on one thread.
///
/// Everything that hangs on a loop (sockets, deadlines, connections) belongs to its thread and is not `Sendable`;
/// other threads reach it through its `mailbox` only.
///
/// A round of events has three steps, each for all connections before the next begins: sockets are read (into
/// `roundInput`), what came is worked on (`afterEvents`), what is little is written (`afterWork`). The code of each step,
/// the kernel's above all, is in the processor's caches then, and peers wake once for many messages: 8 % of a small
/// request's cost at 64 connections. And whatever had arrived when a round began, as far as epoll has told of it, is known
/// before anything is decided in it.
package final class EventLoop {
  let base: OpaquePointer
  package let mailbox: LoopMailbox
  let deadlines: DeadlineWheel
  package let roundInput = RoundInput()
  /// Called after each round of events: logs are flushed here.
  package var afterIteration: (() -> Void)?

  private let thread: pthread_t
  private var mailboxEvent: LoopEvent?
  private var retired: [AnyObject] = []
  private var kept: [AnyObject] = []
  private var stopping = false
  private var hasEnded = false
  private var later: [() -> Void] = []
  private var works = RoundWorkList()
  private var writes = RoundWorkList()
  /// Owned; freed in deinit. A timer without delay, since an event that is merely activated runs in the same round.
  private var laterTimer: OpaquePointer?

  /// So many messages wait at most to be written until others have been worked on.
  private static let writesMax = 128

  /// Makes the loop of the calling thread.
  package init() {
    signal(SIGPIPE, SIG_IGN)  // SSL_write has no MSG_NOSIGNAL
    guard let config = event_config_new() else { preconditionFailure("event_config_new: out of memory") }
    event_config_set_flag(config, Int32(EVENT_BASE_FLAG_NOLOCK.rawValue))
    event_config_set_flag(config, Int32(EVENT_BASE_FLAG_EPOLL_USE_CHANGELIST.rawValue))
    guard let base = event_base_new_with_config(config) else { preconditionFailure("event_base_new: out of memory") }
    event_config_free(config)
    self.base = base
    thread = pthread_self()
    mailbox = LoopMailbox()
    deadlines = DeadlineWheel(base: base)
    mailboxEvent = LoopEvent(base: base, descriptor: mailbox.wakeUpDescriptor, interest: .read) { [unowned self] in
      self.mailbox.drain()
    }
    mailboxEvent?.enable()
    // The context is unretained: the timer goes with the loop.
    laterTimer = event_new(
      base, -1, 0,
      { _, _, context in
        guard let context else { return }
        Unmanaged<EventLoop>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.runLater() }
      }, Unmanaged.passUnretained(self).toOpaque())
    precondition(laterTimer != nil, "event_new: out of memory")
  }

  deinit {
    mailbox.close()
    mailboxEvent = nil
    if let laterTimer { event_free(laterTimer) }
    deadlines.close()
    event_base_free(base)
  }

  /// Runs until `stop()`; on the thread that made the loop. Then ends and lets go of everything that was kept, and of
  /// letters that arrive from then on.
  package func run() {
    run { true }
    for case let resident as any LoopResident in kept { resident.loopEnds() }
    mailbox.close()
    hasEnded = true
    while !kept.isEmpty || !retired.isEmpty || !later.isEmpty {
      later = []
      kept = []
      releaseRetired()
    }
  }

  /// Runs until `stop()`, or until `wanted`, asked after each round of events, is false.
  package func run(while wanted: () -> Bool) {
    assertOnLoop()
    while !stopping {
      deadlines.roundBegins()
      // Work that was asked for between rounds does not wait for an event.
      let isQuiet = works.isEmpty && writes.isEmpty
      if event_base_loop(base, isQuiet ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK) < 0 { break }
      endRound()
      afterIteration?()
      if !retired.isEmpty { releaseRetired() }
      if !wanted() { break }
    }
  }

  /// Ends `run()` after the current round of events.
  package func stop() {
    assertOnLoop()
    stopping = true
  }

  /// Keeps `object` alive until the current round of events is over, so that a callback which closes its own
  /// connection can return through it. A loop that has ended calls nobody back and keeps nothing.
  package func retire(_ object: AnyObject) { if !hasEnded { retired.append(object) } }

  /// What goes may retire others: they go after the next round.
  private func releaseRetired() {
    var gone: [AnyObject] = []
    swap(&gone, &retired)
    gone.removeAll(keepingCapacity: true)
    if retired.isEmpty { swap(&gone, &retired) }
  }

  /// Keeps `object` alive as long as the loop runs; a `LoopResident` is told when that is over.
  package func keep(_ object: AnyObject) { if !hasEnded { kept.append(object) } }

  /// Has `work` done once, when all events of this round have been heard: it looks at what was read.
  package func afterEvents(_ work: RoundWork) {
    assertOnLoop()
    if !hasEnded { works.append(work) }
  }

  /// Has `work` done once, when what this round has brought has been worked on, and before the loop waits: it writes, or
  /// goes on from what was written.
  package func afterWork(_ work: RoundWork) {
    assertOnLoop()
    if !hasEnded { writes.append(work) }
  }

  private func endRound() {
    workAndWrite()
    // Only now: who has been heard in this round is not late.
    if deadlines.tickIfDue() { workAndWrite() }
    roundInput.clear()
  }

  private func workAndWrite() {
    while !works.isEmpty || !writes.isEmpty {
      while writes.count < Self.writesMax, let work = works.popFirst() { work._withUnsafeGuaranteedRef { $0.run() } }
      while let work = writes.popFirst() { work._withUnsafeGuaranteedRef { $0.run() } }
    }
  }

  /// Runs `work` in the next round of events, on this loop: for answers that must not come from within the call that
  /// asked, and for work that must let others have their turn.
  package func nextRound(_ work: @escaping () -> Void) {
    assertOnLoop()
    guard !hasEnded else { return }
    later.append(work)
    guard later.count == 1 else { return }
    var atOnce = timeval()
    event_add(laterTimer, &atOnce)
  }

  private func runLater() {
    let due = later
    later.removeAll()
    for work in due { work() }
  }

  /// Traps when the caller is on another thread: a bug of ours.
  package func assertOnLoop() {
    assert(pthread_equal(thread, pthread_self()) != 0, "a loop-bound object was used from another thread")
  }
}

/// A loop-bound object as other threads may carry it: they can post it back, never use it.
///
/// The reference is weak, so that the object's last release always happens on its own loop.
package struct LoopBound<Object: AnyObject>: @unchecked Sendable {  // guarded by the mailbox: opened on the loop only
  private weak var object: Object?
  private let mailbox: LoopMailbox

  package init(_ object: Object, on loop: EventLoop) {
    self.object = object
    mailbox = loop.mailbox
  }

  /// Runs `work` with the object on its loop, if it still lives.
  package func post(_ work: @escaping @Sendable (Object) -> Void) {
    mailbox.post { if let object { work(object) } }
  }
}
