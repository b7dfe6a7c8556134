import CLibevent
import Glibc

/// One persistent libevent event for one direction of one descriptor, made once and armed without allocating.
///
/// The callback does not retain the event: an owner that lets it go from within its action hands it to
/// `EventLoop.retire` first.
package final class LoopEvent {
  package enum Interest {
    case read, write

    var flags: Int16 { Int16(self == .read ? EV_READ : EV_WRITE) | Int16(EV_PERSIST) }
  }

  private var event: OpaquePointer?
  private let action: () -> Void
  package private(set) var isEnabled = false

  package init(base: OpaquePointer, descriptor: Int32, interest: Interest, action: @escaping () -> Void) {
    self.action = action
    // The context is unretained: deinit frees the event before the object goes.
    event = event_new(
      base, descriptor, interest.flags,
      { _, _, context in
        guard let context else { return }
        Unmanaged<LoopEvent>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.action() }
      }, Unmanaged.passUnretained(self).toOpaque())
    precondition(event != nil, "event_new: out of memory")
  }

  package convenience init(loop: EventLoop, descriptor: Int32, interest: Interest, action: @escaping () -> Void) {
    self.init(base: loop.base, descriptor: descriptor, interest: interest, action: action)
  }

  deinit { if let event { event_free(event) } }

  package func enable() {
    guard !isEnabled else { return }
    isEnabled = true
    event_add(event, nil)
  }

  package func disable() {
    guard isEnabled else { return }
    isEnabled = false
    event_del(event)
  }
}

/// Handles one UNIX signal on a loop. Only one loop of a process may have any.
package final class SignalEvent {
  private var event: OpaquePointer?
  private let action: () -> Void

  package init(loop: EventLoop, signal: Int32, action: @escaping () -> Void) {
    self.action = action
    event = event_new(
      loop.base, signal, Int16(EV_SIGNAL) | Int16(EV_PERSIST),
      { _, _, context in
        guard let context else { return }
        Unmanaged<SignalEvent>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.action() }
      }, Unmanaged.passUnretained(self).toOpaque())
    event_add(event, nil)
  }

  deinit { if let event { event_free(event) } }
}
