import EventLoop
import Locking

/// When a store that was unlocked with a passphrase locks itself again.
package enum UnlockPolicy: Sendable, Equatable {
  /// Not at all: there is no passphrase, or it stays open until it is locked by hand or the process ends.
  case untilLocked
  /// After one operation. The gateway can't send such credentials unattended.
  case always
  /// So long after the passphrase was given, whatever was done meanwhile. By the boot clock, so that sleep counts.
  case session(Duration)
}

/// Watches over the time a store stays open. Any thread.
final class UnlockKeeper: Sendable {
  let policy: UnlockPolicy
  private let time: any TimeSource
  private let unlockedAtBootNanoseconds = Protected<Int64?>(nil)
  /// Tries with a wrong passphrase since the last right one.
  private let failures = Protected((count: 0, untilBootNanoseconds: Int64.min))

  init(_ policy: UnlockPolicy, time: any TimeSource) {
    self.policy = policy
    self.time = time
  }

  /// The first three mistakes are free; then 1 s, 2 s, 4 s … up to a minute. Boot clock.
  static let freeFailures = 3
  static let pauseMax = Duration.seconds(60)

  /// The store is about to be locked: what is under way may end, and nothing may begin.
  private let isLocking = Protected(0)

  func lockBegins() {
    unlockedAtBootNanoseconds.withLock { $0 = nil }
    isLocking.withLock { $0 += 1 }
  }

  func lockEnds() { isLocking.withLock { $0 -= 1 } }

  /// Operations that were asked for by hand and are under way.
  private let operations = Protected(0)

  func operationBegins() { operations.withLock { $0 += 1 } }

  /// - Returns: whether the store is to be locked again.
  func operationEnds() -> Bool {
    operations.withLock {
      $0 -= 1
      return $0 == 0
    } && policy == .always
  }

  /// With ``UnlockPolicy/always`` the store is opened for what is asked for by hand and for nothing else.
  var mayOpen: Bool {
    isLocking.withLock { $0 == 0 } && (policy != .always || operations.withLock { $0 > 0 })
  }

  func unlocked() {
    let now = time.bootNanoseconds
    unlockedAtBootNanoseconds.withLock { $0 = now }
    failures.withLock { $0 = (0, .min) }
  }

  func passphraseWasWrong() {
    let now = time.bootNanoseconds
    failures.withLock { failures in
      failures.count += 1
      guard failures.count > Self.freeFailures else { return }
      let pause = min(Duration.seconds(1 << min(failures.count - Self.freeFailures - 1, 10)), Self.pauseMax)
      failures.untilBootNanoseconds = now + pause.nanoseconds
    }
  }

  /// Whole seconds until another passphrase may be tried, rounded up; 0 is now.
  var pauseSeconds: Int64 {
    let left = failures.withLock { $0.untilBootNanoseconds }
    guard left != .min else { return 0 }
    return max(0, (left - time.bootNanoseconds + 999_999_999) / 1_000_000_000)
  }

  /// The time is up: lock the store before anything else is done with it.
  var isOver: Bool {
    guard case .session(let limit) = policy, let since = unlockedAtBootNanoseconds.withLock({ $0 }) else {
      return false
    }
    return time.bootNanoseconds - since >= limit.nanoseconds
  }

  var secondsLeft: Int64? {
    guard case .session(let limit) = policy, let since = unlockedAtBootNanoseconds.withLock({ $0 }) else { return nil }
    return max(0, (limit.nanoseconds - (time.bootNanoseconds - since)) / 1_000_000_000)
  }
}
