import EventLoop

/// How long to leave a source in peace that failed. Boot clock only: a wall clock that is set must not end or stretch it.
struct FetchBackoff {
  private(set) var last: FetchFailure? { didSet { hasFailed = last != nil } }
  /// Whether there is a last failure; asked for every request.
  private(set) var hasFailed = false
  private var consecutive = 0
  private var untilBootNanoseconds: Int64 = .min

  /// 0.5 s · 2ⁿ up to a minute, for what may pass by itself.
  static let unavailable = Duration.milliseconds(500)...Duration.seconds(60)
  /// 5 s · 2ⁿ up to five minutes, for what somebody has to mend.
  static let refused = Duration.seconds(5)...Duration.seconds(300)
  /// While a person is waited for: it costs a look at the store.
  static let person = Duration.seconds(1)...Duration.seconds(1)
  /// A server that asks for more than this gets this.
  static let retryAfterMax = Duration.seconds(3600)

  func isOn(at now: Moment) -> Bool { now.bootNanoseconds < untilBootNanoseconds }

  mutating func succeeded() { self = FetchBackoff() }

  mutating func failed(_ failure: FetchFailure, at now: Moment) {
    consecutive = last?.kind == failure.kind ? consecutive + 1 : 1
    last = failure
    let bounds =
      switch failure.kind {
      case .unavailable: Self.unavailable
      case .refused: Self.refused
      case .person: Self.person
      }
    var pause = min(bounds.lowerBound * (1 << min(consecutive - 1, 20)), bounds.upperBound)
    if let fixed = failure.pause { pause = fixed }
    if let asked = failure.retryAfter { pause = max(pause, min(asked, Self.retryAfterMax)) }
    untilBootNanoseconds = now.bootNanoseconds + pause.nanoseconds
  }

  /// What a request is told that can't wait for the next try.
  func failure(at now: Moment) -> TokenFailure {
    guard let last else {
      return .unavailable(detail: "no token has been fetched yet", retryAfterSeconds: 1)
    }
    switch last.kind {
    case .refused: return .refused(detail: last.detail)
    case .person(.locked): return .locked(detail: last.detail)
    case .person(.storeFailed): return .refused(detail: last.detail)
    case .person: return .loginRequired(detail: last.detail)
    case .unavailable:
      return .unavailable(detail: last.detail, retryAfterSeconds: max(1, pauseSecondsLeft(at: now)))
    }
  }

  /// Whole seconds until the next try, rounded up.
  func pauseSecondsLeft(at now: Moment) -> Int {
    isOn(at: now) ? Int((untilBootNanoseconds - now.bootNanoseconds + 999_999_999) / 1_000_000_000) : 0
  }
}
