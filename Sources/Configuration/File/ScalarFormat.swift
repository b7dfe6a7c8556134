/// How numbers, durations and sizes are spelled.
package enum ScalarFormat {
  /// Decimal digits and nothing else.
  static func integer(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return Int(text)
  }

  package static func duration(_ text: String) -> Duration? {
    for (unit, milliseconds) in [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)] where text.hasSuffix(unit) {
      guard let count = integer(text.dropLast(unit.count)) else { continue }
      let (product, overflow) = count.multipliedReportingOverflow(by: milliseconds)
      return overflow ? nil : .milliseconds(product)
    }
    return nil
  }

  static func size(_ text: String) -> Int? {
    for (unit, bytes) in [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)] where text.hasSuffix(unit) {
      guard let count = integer(text.dropLast(unit.count)) else { return nil }
      let (product, overflow) = count.multipliedReportingOverflow(by: bytes)
      return overflow ? nil : product
    }
    return integer(text)
  }

  /// A duration in the largest unit that divides it.
  package static func spell(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    for (unit, factor) in [("h", Int64(3_600_000)), ("m", 60_000), ("s", 1000)] {
      if milliseconds != 0, milliseconds % factor == 0 { return "\(milliseconds / factor)\(unit)" }
    }
    return "\(milliseconds)ms"
  }

  /// A size in the largest unit that divides it.
  package static func spell(bytes: Int) -> String {
    for (unit, factor) in [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)] {
      if bytes != 0, bytes % factor == 0 { return "\(bytes / factor)\(unit)" }
    }
    return "\(bytes)"
  }
}
