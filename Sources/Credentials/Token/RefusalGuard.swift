import EventLoop

/// Keeps an upstream that refuses every token from costing a fetch per request.
///
/// When a token that was fetched for a replay is refused too, no fetch is forced for 30 s. If the next forced one ends the
/// same way, for twice as long, up to a quarter of an hour.
struct RefusalGuard {
  static let pauseMin = Duration.seconds(30)
  static let pauseMax = Duration.seconds(900)

  /// The last token that was fetched for a replay and refused.
  private var marked: UInt64 = 0
  private var consecutive = 0
  private var untilBootNanoseconds: Int64 = .min

  func isOn(at now: Moment) -> Bool { now.bootNanoseconds < untilBootNanoseconds }
  func isMarked(_ generation: UInt64) -> Bool { marked == generation }

  /// Counts once per token, however many requests report it.
  mutating func freshTokenRefused(_ generation: UInt64, at now: Moment) {
    guard generation > marked else { return }
    marked = generation
    consecutive += 1
    let pause = min(Self.pauseMin * (1 << min(consecutive - 1, 20)), Self.pauseMax)
    untilBootNanoseconds = now.bootNanoseconds + pause.nanoseconds
  }

  /// A token that was accepted for a while and is refused now starts the count anew.
  mutating func forcedFetchStarts(replacing generation: UInt64) {
    if marked != generation { consecutive = 0 }
  }
}
