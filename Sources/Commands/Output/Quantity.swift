import HTTPWire

/// Numbers as people read them.
enum Quantity {
  /// `1 route`, `2 routes`.
  static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

  /// `4.6 ms`, `120 ms`.
  static func milliseconds(_ value: Double) -> String {
    guard value.isFinite, value >= 0 else { return "-" }
    guard value < 100 else { return "\(Int64(clamping: value.rounded())) ms" }
    let tenths = Int64((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) ms"
  }

  /// `50 s`, `4 min`, `3 h`, `12 d`: the largest unit of which there are at least two, rounded down.
  static func seconds(_ value: Int64) -> String {
    switch value.magnitude {
    case ..<120: "\(value.magnitude) s"
    case ..<7_200: "\(value.magnitude / 60) min"
    case ..<172_800: "\(value.magnitude / 3_600) h"
    default: "\(value.magnitude / 86_400) d"
    }
  }

  /// `in 4 min (2026-11-30T12:30:05Z)`, `20 s ago (…)`, or `-` for no moment.
  static func moment(_ unixSeconds: Int64?, now: Int64) -> String {
    guard let unixSeconds else { return "-" }
    let (distance, overflow) = unixSeconds.subtractingReportingOverflow(now)
    guard !overflow, distance.magnitude < 1 << 40 else { return "-" }
    let relative =
      switch distance {
      case 0: "now"
      case 1...: "in \(seconds(distance))"
      default: "\(seconds(distance)) ago"
      }
    return "\(relative) (\(CivilDate.timestamp(unixSeconds: unixSeconds)))"
  }
}

extension Int64 {
  fileprivate init(clamping value: Double) { self = value >= 9e18 ? .max : Int64(value) }
}
