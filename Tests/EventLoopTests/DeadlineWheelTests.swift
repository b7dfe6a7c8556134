import LoopbackPeers
import Testing

@testable import EventLoop

/// The wheel is turned by hand: `turn(now:)` is given the time.
struct DeadlineWheelTests {
  static let tick = DeadlineWheel.tickNanoseconds
  static let revolution = tick * 512

  /// Counts and forwards what has passed.
  private final class Target: DeadlineTarget {
    var passed = 0
    var action: (Deadline) -> Void = { _ in }
    func deadlinePassed(_ deadline: Deadline) {
      passed += 1
      action(deadline)
    }
  }

  private let start = SystemTime.monotonicNanoseconds

  @Test func `a deadline passes once, never early and at most two ticks late`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let target = Target()
    let deadline = Deadline(on: turned.loop, target: target)
    wheel.set(deadline, after: 10 * Self.tick, now: start)
    #expect(deadline.isSet)
    wheel.turn(now: start + 10 * Self.tick - 1)
    #expect(target.passed == 0)
    wheel.turn(now: start + 12 * Self.tick)
    #expect(target.passed == 1)
    #expect(!deadline.isSet)
    wheel.turn(now: start + 2 * Self.revolution)
    #expect(target.passed == 1)
  }

  @Test func `a deadline that moves later passes at its last time only`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let target = Target()
    let deadline = Deadline(on: turned.loop, target: target)
    wheel.set(deadline, after: 5 * Self.tick, now: start)
    wheel.set(deadline, after: 50 * Self.tick, now: start)
    wheel.turn(now: start + 49 * Self.tick)
    #expect(target.passed == 0)
    wheel.turn(now: start + 52 * Self.tick)
    #expect(target.passed == 1)
  }

  @Test func `a deadline that moves earlier passes at its last time`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let target = Target()
    let deadline = Deadline(on: turned.loop, target: target)
    wheel.set(deadline, after: 400 * Self.tick, now: start)
    wheel.set(deadline, after: 3 * Self.tick, now: start)
    wheel.turn(now: start + 5 * Self.tick)
    #expect(target.passed == 1)
    wheel.turn(now: start + 500 * Self.tick)
    #expect(target.passed == 1)
  }

  @Test func `a deadline that was cleared or removed does not pass, and can be set again`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let target = Target()
    let (cleared, removed) = (Deadline(on: turned.loop, target: target), Deadline(on: turned.loop, target: target))
    for deadline in [cleared, removed] { wheel.set(deadline, after: 3 * Self.tick, now: start) }
    cleared.clear()
    removed.remove()
    wheel.turn(now: start + 10 * Self.tick)
    #expect(target.passed == 0)
    for deadline in [cleared, removed] { wheel.set(deadline, after: 3 * Self.tick, now: start + 10 * Self.tick) }
    wheel.turn(now: start + 15 * Self.tick)
    #expect(target.passed == 2)
  }

  @Test func `a deadline set again in its own callback passes again`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let target = Target()
    let deadline = Deadline(on: turned.loop, target: target)
    var now = start
    target.action = { wheel.set($0, after: 4 * Self.tick, now: now) }
    wheel.set(deadline, after: 4 * Self.tick, now: now)
    for _ in 0..<60 {
      now += Self.tick
      wheel.turn(now: now)
    }
    #expect((10...15).contains(target.passed))
    deadline.remove()
  }

  @Test func `a callback removes, frees, clears and moves others that are due in the same tick`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let (first, others) = (Target(), Target())
    let trigger = Deadline(on: turned.loop, target: first)
    var freed: Deadline? = Deadline(on: turned.loop, target: others)
    let (removed, cleared, moved) = (
      Deadline(on: turned.loop, target: others), Deadline(on: turned.loop, target: others),
      Deadline(on: turned.loop, target: others)
    )
    let due = start + 10 * Self.tick
    first.action = { _ in
      if let deadline = freed { deadline.remove() }
      freed = nil
      removed.remove()
      cleared.clear()
      wheel.set(moved, after: 5 * Self.tick, now: due)
    }
    // The wheel's slots are stacks: the last one linked is looked at first.
    for deadline in [removed, cleared, moved] { wheel.set(deadline, after: 8 * Self.tick, now: start) }
    if let freed { wheel.set(freed, after: 8 * Self.tick, now: start) }
    wheel.set(trigger, after: 8 * Self.tick, now: start)
    wheel.turn(now: due)
    #expect(first.passed == 1)
    #expect(others.passed == 0)
    wheel.turn(now: due + 7 * Self.tick)  // and not only a revolution later
    #expect(others.passed == 1)
  }

  @Test func `after a stall a round of events goes before the deadlines`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let target = Target()
    let deadline = Deadline(on: turned.loop, target: target)
    let later = Deadline(on: turned.loop, target: Target())  // keeps the wheel in motion
    wheel.set(later, after: 400 * Self.tick, now: start)
    defer { later.remove() }
    wheel.set(deadline, after: 10 * Self.tick, now: start)
    wheel.tick(now: start + 30 * Self.tick)
    #expect(target.passed == 0)
    wheel.tick(now: start + 31 * Self.tick)
    #expect(target.passed == 1)
    wheel.set(deadline, after: 2 * Self.tick, now: start + 31 * Self.tick)
    wheel.tick(now: start + 34 * Self.tick)
    #expect(target.passed == 2)
  }

  @Test func `after a stall of several revolutions everything due passes once, and the rest in time`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let target = Target()
    let deadlines = (0..<2_000).map { _ in Deadline(on: turned.loop, target: target) }
    for (index, deadline) in deadlines.enumerated() {
      wheel.set(deadline, after: UInt64(index) * Self.tick, now: start)
    }
    let stalled = start + 1_600 * Self.tick
    wheel.turn(now: stalled)
    #expect((1_598...1_601).contains(target.passed))
    wheel.turn(now: start + 2_002 * Self.tick)
    #expect(target.passed == 2_000)
  }

  @Test func `a time too far off to be told is no time at all`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let target = Target()
    let deadline = Deadline(on: turned.loop, target: target)
    wheel.set(deadline, after: .max, now: start)
    #expect(deadline.isSet)
    for revolution in 1...3 { wheel.turn(now: start + UInt64(revolution) * Self.revolution) }
    #expect(target.passed == 0)
    deadline.remove()
  }

  @Test func `thousands of deadlines, moved at random, pass when a plain list says so`() {
    let turned = TurnedLoop()
    let wheel = turned.loop.deadlines
    let target = Target()
    var generator = SplitMix(state: 42)
    let deadlines = (0..<3_000).map { _ in Deadline(on: turned.loop, target: target) }
    var due = [UInt64?](repeating: nil, count: deadlines.count)
    var index: [ObjectIdentifier: Int] = [:]
    for (position, deadline) in deadlines.enumerated() { index[ObjectIdentifier(deadline)] = position }
    var now = start
    var wrong = 0
    target.action = { deadline in
      guard let position = index[ObjectIdentifier(deadline)], let at = due[position] else { return wrong += 1 }
      if at > now || at + 3 * Self.tick < now { wrong += 1 }
      due[position] = nil
    }
    for _ in 0..<2_000 {
      now += generator.next() % (2 * Self.tick)
      for _ in 0..<10 {
        let position = Int(generator.next() % UInt64(deadlines.count))
        switch generator.next() % 8 {
        case 0:
          deadlines[position].clear()
          due[position] = nil
        case 1:
          deadlines[position].remove()
          due[position] = nil
        default:
          let after = generator.next() % (3 * Self.revolution / 2)
          wheel.set(deadlines[position], after: after, now: now)
          due[position] = now + after
        }
      }
      wheel.turn(now: now)
    }
    #expect(wrong == 0)
    #expect(target.passed > 500)
    // Nothing overdue was forgotten.
    #expect(due.allSatisfy { $0.map { $0 + 3 * Self.tick >= now } ?? true })
    for deadline in deadlines { deadline.remove() }
  }

  @Test func `a running loop turns the wheel, and lets it rest when nothing is set`() {
    let turned = TurnedLoop()
    let target = Target()
    let deadline = Deadline(on: turned.loop, target: target)
    for expected in 1...2 {
      let began = SystemTime.monotonicNanoseconds
      turned.loop.deadlines.set(deadline, after: 50_000_000)
      #expect(turned.turn { target.passed == expected })
      #expect(SystemTime.monotonicNanoseconds - began >= 50_000_000)
    }
  }
}

/// Numbers that look random and are the same in every run.
struct SplitMix {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
