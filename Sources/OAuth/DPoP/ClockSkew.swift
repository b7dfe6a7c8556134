import Synchronization

/// How far a server's clock is from ours, learned from the `Date` of its responses. Any thread.
///
/// Used only to date proofs, never to lengthen a token's life.
package final class ClockSkew: Sendable {
  private let appliedSeconds = Atomic<Int64>(0)

  package init() {}

  /// Seconds to add to our wall clock; 0 unless the difference is certain to matter.
  package var seconds: Int64 { appliedSeconds.load(ordering: .relaxed) }

  /// The `iat` of a proof signed now. RFC 9449 §4.2
  package func issuedAtUnixSeconds(wallNanoseconds: Int64) -> Int64 {
    let (whole, remainder) = wallNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return (remainder < 0 ? whole - 1 : whole) + seconds
  }

  /// Learns from one response.
  ///
  /// Don't call it for a response with an `Age` field: its `Date` is of another time. RFC 9111 §5.1
  package func observe(_ sample: ClockSample) {
    appliedSeconds.store(ClockSkewEstimator.applied(after: sample, before: seconds), ordering: .relaxed)
  }
}

/// The `Date` of one response and when it came.
package struct ClockSample: Sendable, Equatable {
  package let dateUnixSeconds: Int64
  /// From the end of the request to the head of the response, by a clock that is never set.
  package let roundTripNanoseconds: Int64
  package let receivedWallNanoseconds: Int64

  package init(dateUnixSeconds: Int64, roundTripNanoseconds: Int64, receivedWallNanoseconds: Int64) {
    self.dateUnixSeconds = dateUnixSeconds
    self.roundTripNanoseconds = roundTripNanoseconds
    self.receivedWallNanoseconds = receivedWallNanoseconds
  }
}

/// Judges samples of another clock. Pure.
package enum ClockSkewEstimator {
  /// A slower response says too little.
  static let roundTripNanosecondsMax: Int64 = 10_000_000_000
  static let skewSecondsMax: Int64 = 86_400
  /// Differences up to this much are left alone: servers allow for them.
  static let ignoredNanoseconds: Int64 = 2_000_000_000

  /// The seconds to apply after `sample`, if `before` were applied until now.
  ///
  /// The server wrote its date somewhere between send and receipt, so a sample is certain only to half a round trip. It
  /// changes what is applied only if the two contradict each other beyond that; a slow answer of an exact clock doesn't.
  /// `Date` has whole seconds and is taken as it is, which dates proofs up to a second early and never late.
  package static func applied(after sample: ClockSample, before: Int64) -> Int64 {
    guard (0...roundTripNanosecondsMax).contains(sample.roundTripNanoseconds),
      (0...253_402_300_799).contains(sample.dateUnixSeconds)  // the year 9999
    else { return before }
    let halfway = sample.receivedWallNanoseconds / 1_000 - sample.roundTripNanoseconds / 2_000
    let skew = sample.dateUnixSeconds * 1_000_000 - halfway
    let ignored = ignoredNanoseconds / 1_000
    if abs(skew - before * 1_000_000) <= ignored + sample.roundTripNanoseconds / 2_000 { return before }
    if abs(skew) <= ignored { return 0 }
    return min(max(Int64((Double(skew) / 1_000_000).rounded(.down)), -skewSecondsMax), skewSecondsMax)
  }
}
