import EventLoop

/// Both clocks, read at once.
struct Moment: Sendable, Equatable {
  let wallNanoseconds: Int64
  let bootNanoseconds: Int64

  init(_ time: any TimeSource) {
    self.init(wallNanoseconds: time.wallNanoseconds, bootNanoseconds: time.bootNanoseconds)
  }

  init(wallNanoseconds: Int64, bootNanoseconds: Int64) {
    self.wallNanoseconds = wallNanoseconds
    self.bootNanoseconds = bootNanoseconds
  }

  /// Nanoseconds since `earlier` by whichever clock says more: the wall clock may be set back, the boot clock starts again
  /// with the machine.
  func elapsedNanoseconds(since earlier: Moment) -> Int64 {
    max(
      wallNanoseconds.subtractingSaturated(earlier.wallNanoseconds),
      bootNanoseconds.subtractingSaturated(earlier.bootNanoseconds))
  }

  var wallUnixSeconds: Int64 { wallNanoseconds / 1_000_000_000 }
}

extension Int64 {
  func subtractingSaturated(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? .max : difference
  }
}
