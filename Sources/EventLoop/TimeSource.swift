import Glibc
import Locking

/// The two clocks a credential's life is measured with, replaceable in tests.
///
/// A token is expired when either says so: the wall clock may be set back, and the boot clock, which also counts
/// the time a laptop sleeps, starts again with the machine.
package protocol TimeSource: Sendable {
  /// Nanoseconds since 1970-01-01T00:00:00Z (`CLOCK_REALTIME`).
  var wallNanoseconds: Int64 { get }
  /// Nanoseconds since the machine started, suspended time included (`CLOCK_BOOTTIME`).
  var bootNanoseconds: Int64 { get }
}

/// The machine's own clocks.
package struct SystemTime: TimeSource {
  package init() {}
  package var wallNanoseconds: Int64 { Self.read(CLOCK_REALTIME) }
  package var bootNanoseconds: Int64 { Self.read(CLOCK_BOOTTIME) }

  /// Nanoseconds that never run backwards and stop while the machine sleeps (`CLOCK_MONOTONIC`): for timeouts.
  package static var monotonicNanoseconds: UInt64 { UInt64(read(CLOCK_MONOTONIC)) }

  /// The same clock as the kernel's last tick left it: a fifth of the price, and at most `coarseNanoseconds` behind.
  static var coarseMonotonicNanoseconds: UInt64 { UInt64(read(CLOCK_MONOTONIC_COARSE)) }

  /// How far the coarse clock may lag behind; 4 ms at the kernel's usual 250 ticks a second.
  static let coarseNanoseconds: UInt64 = {
    var resolution = timespec()
    clock_getres(CLOCK_MONOTONIC_COARSE, &resolution)
    return UInt64(resolution.tv_nsec)
  }()

  @inline(__always)
  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// Clocks that only a test moves.
package final class ManualTime: TimeSource {
  private struct State {
    var wall: Int64
    var boot: Int64
  }
  private let state: Protected<State>

  /// - Parameter wallSeconds: Unix time both in the beginning and as the base of `advance`.
  package init(wallSeconds: Int64 = 1_800_000_000) {
    state = Protected(State(wall: wallSeconds * 1_000_000_000, boot: 1_000_000_000_000))
  }

  package var wallNanoseconds: Int64 { state.withLock { $0.wall } }
  package var bootNanoseconds: Int64 { state.withLock { $0.boot } }

  /// Lets time pass on both clocks.
  package func advance(by duration: Duration) {
    let nanoseconds = duration.nanoseconds
    state.withLock {
      $0.wall += nanoseconds
      $0.boot += nanoseconds
    }
  }

  /// Sets the wall clock as an administrator or NTP would, without time passing.
  package func setWall(seconds: Int64) { state.withLock { $0.wall = seconds * 1_000_000_000 } }
}

extension Duration {
  /// Whole nanoseconds; saturates at ±292 years.
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let limit: Int64 = seconds < 0 ? .min : .max
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    if overflow { return limit }
    let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return carried ? limit : sum
  }
}
