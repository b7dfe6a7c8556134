import CLibevent
import Glibc

/// What is told that a deadline has passed.
package protocol DeadlineTarget: AnyObject {
  func deadlinePassed(_ deadline: Deadline)
}

/// A moment something must not outlast; moving it later costs one store.
package final class Deadline {
  private let wheel: DeadlineWheel
  unowned(unsafe) private var target: (any DeadlineTarget)?
  /// `CLOCK_MONOTONIC` nanoseconds; `never` when not set.
  package fileprivate(set) var at: UInt64 = Deadline.never
  fileprivate var tick: UInt64 = Deadline.never
  fileprivate unowned(unsafe) var next: Deadline?
  fileprivate unowned(unsafe) var previous: Deadline?

  fileprivate static let never = UInt64.max

  /// - Parameter target: must outlive the deadline's last use; owners remove the deadline before they go. Nil until
  ///   `bind`, for owners that make it before they are whole.
  package init(on loop: EventLoop, target: (any DeadlineTarget)? = nil) {
    wheel = loop.deadlines
    self.target = target
  }

  package func bind(to target: any DeadlineTarget) { self.target = target }

  /// Makes it pass `nanoseconds` from now, instead of whenever it was to pass.
  package func set(after nanoseconds: UInt64) { wheel.set(self, after: nanoseconds) }

  /// Forgets it. Cheap: it leaves the wheel when its slot comes round, or at `remove`.
  package func clear() { at = Deadline.never }

  /// Takes it off the wheel; required before its owner goes.
  package func remove() { wheel.remove(self) }

  package var isSet: Bool { at != Self.never }

  fileprivate func fire() { target?.deadlinePassed(self) }
}

/// All deadlines of one loop on a hashed wheel with coarse ticks.
///
/// A deadline that moves later stays in its slot and is looked at again when the slot comes round, so that a busy
/// connection touches the wheel about once per revolution and never the kernel.
package final class DeadlineWheel {
  /// A deadline passes at most two ticks late, and never early but by the length of the round that set it.
  package static let tickNanoseconds: UInt64 = 32_000_000
  private static let slotCount: UInt64 = 512
  /// How far the loop may be behind before a round of events goes first.
  private static let stallTicks: UInt64 = 4

  private let lagNanoseconds = SystemTime.coarseNanoseconds
  private var slots: [Deadline?]
  private var population = 0
  private var currentTick: UInt64
  private var ticker: OpaquePointer?
  private var ticking = false
  private var hasGivenWay = false
  /// The kernel's timer has told of a tick.
  private var isDue = false
  /// When the first deadline of this round was set; all of them count from there. 0 while none was.
  private var roundTime: UInt64 = 0

  init(base: OpaquePointer) {
    slots = Array(repeating: nil, count: Int(Self.slotCount))
    currentTick = SystemTime.monotonicNanoseconds / Self.tickNanoseconds
    ticker = event_new(
      base, -1, Int16(EV_PERSIST),
      { _, _, context in
        guard let context else { return }
        Unmanaged<DeadlineWheel>.fromOpaque(context)._withUnsafeGuaranteedRef {
          $0.isDue = true
        }
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func close() {
    if let ticker { event_free(ticker) }
    ticker = nil
  }

  /// Makes `deadline` pass `nanoseconds` from now.
  func set(_ deadline: Deadline, after nanoseconds: UInt64) {
    if roundTime == 0 { roundTime = SystemTime.coarseMonotonicNanoseconds &+ lagNanoseconds }
    set(deadline, after: nanoseconds, now: roundTime)
  }

  /// The round that begins has a time of its own.
  func roundBegins() { roundTime = 0 }

  /// Lets deadlines pass if a tick came in this round. - Returns: whether one did.
  func tickIfDue() -> Bool {
    guard isDue else { return false }
    isDue = false
    tick(now: SystemTime.monotonicNanoseconds)
    return true
  }

  /// Makes `deadline` pass `nanoseconds` from `now`.
  func set(_ deadline: Deadline, after nanoseconds: UInt64, now: UInt64) {
    let (sum, overflow) = now.addingReportingOverflow(nanoseconds)
    let at = overflow ? Deadline.never - 1 : min(sum, Deadline.never - 1)
    deadline.at = at
    let tick = at / Self.tickNanoseconds + 1
    if deadline.tick != Deadline.never {
      if deadline.tick <= tick { return }  // moved later: found when its slot comes round
      unlink(deadline)
    }
    link(deadline, tick: tick)
  }

  /// Takes `deadline` off the wheel.
  func remove(_ deadline: Deadline) {
    deadline.at = Deadline.never
    if deadline.tick != Deadline.never { unlink(deadline) }
  }

  private func link(_ deadline: Deadline, tick: UInt64) {
    if !ticking { startTicking() }
    let tick = max(tick, currentTick + 1)
    let slot = Int(tick % Self.slotCount)
    deadline.tick = tick
    deadline.previous = nil
    deadline.next = slots[slot]
    deadline.next?.previous = deadline
    slots[slot] = deadline
    population += 1
  }

  private func startTicking() {
    ticking = true
    currentTick = SystemTime.monotonicNanoseconds / Self.tickNanoseconds
    var interval = timeval(tv_sec: 0, tv_usec: Int(Self.tickNanoseconds / 1000))
    event_add(ticker, &interval)
  }

  private func unlink(_ deadline: Deadline) {
    if let previous = deadline.previous {
      previous.next = deadline.next
    } else {
      slots[Int(deadline.tick % Self.slotCount)] = deadline.next
    }
    deadline.next?.previous = deadline.previous
    deadline.next = nil
    deadline.previous = nil
    deadline.tick = Deadline.never
    population -= 1
  }

  /// Lets deadlines pass, but after a stall, such as a machine that was suspended, a tick later: what arrived meanwhile
  /// is heard before anybody is called late.
  func tick(now: UInt64) {
    hasGivenWay = !hasGivenWay && now / Self.tickNanoseconds > currentTick + Self.stallTicks
    if !hasGivenWay { turn(now: now) }
  }

  /// Lets every deadline pass that is due at `now`.
  func turn(now: UInt64) {
    let target = now / Self.tickNanoseconds
    // After a stall every slot is visited once at most.
    if target > currentTick + Self.slotCount { currentTick = target - Self.slotCount }
    while currentTick < target {
      currentTick += 1
      visit(slot: Int(currentTick % Self.slotCount), now: now)
    }
    if population == 0, ticking {
      ticking = false
      event_del(ticker)
    }
  }

  private func visit(slot: Int, now: UInt64) {
    var due: [Deadline] = []
    var entry = slots[slot]
    while let deadline = entry {
      entry = deadline.next
      guard deadline.tick <= currentTick else { continue }
      let at = deadline.at
      unlink(deadline)
      if at == Deadline.never { continue }
      if at <= now {
        due.append(deadline)
      } else {
        link(deadline, tick: at / Self.tickNanoseconds + 1)
      }
    }
    // Firing may set, clear, remove or free any deadline, also those behind it in `due`: they are retained, off the
    // wheel, and asked again. One that was set anew is back on the wheel.
    for deadline in due where deadline.at <= now && deadline.tick == Deadline.never {
      deadline.at = Deadline.never
      deadline.fire()
    }
  }
}
