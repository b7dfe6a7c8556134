/// RFC 3339 times in UTC with milliseconds, `2026-11-30T06:14:12.345Z`, without Foundation.
struct Timestamp {
  static let byteCount = 24

  /// The second the cached text stands for.
  private var second = Int64.min
  private var text: [UInt8] = Array("0000-00-00T00:00:00.000Z".utf8)

  /// Lends the text of `wallNanoseconds`; the calendar is asked once per second.
  mutating func withText<R>(of wallNanoseconds: Int64, _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let (second, nanoseconds) = wallNanoseconds.flooredDivision(by: 1_000_000_000)
    let millisecond = Int(nanoseconds / 1_000_000)
    text.withUnsafeMutableBytes { text in
      if second != self.second { Self.writeSecond(second, to: text) }
      Self.write(millisecond, digits: 3, to: text, at: 20)
    }
    self.second = second
    return text.withUnsafeBytes(body)
  }

  /// The text of `wallNanoseconds`, where speed is no matter.
  static func text(_ wallNanoseconds: Int64) -> String {
    var timestamp = Timestamp()
    return timestamp.withText(of: wallNanoseconds) { String(decoding: $0, as: UTF8.self) }
  }

  private static func writeSecond(_ unixSecond: Int64, to text: UnsafeMutableRawBufferPointer) {
    let (day, secondOfDay) = unixSecond.flooredDivision(by: 86_400)
    let date = civilDate(day)
    write(date.year, digits: 4, to: text, at: 0)
    write(date.month, digits: 2, to: text, at: 5)
    write(date.day, digits: 2, to: text, at: 8)
    write(Int(secondOfDay / 3_600), digits: 2, to: text, at: 11)
    write(Int(secondOfDay / 60 % 60), digits: 2, to: text, at: 14)
    write(Int(secondOfDay % 60), digits: 2, to: text, at: 17)
  }

  /// The Gregorian date of a day counted from 1970-01-01.
  ///
  /// Years are counted from March, so that the leap day is the last of its year, in cycles of 400 years.
  private static func civilDate(_ unixDay: Int64) -> (year: Int, month: Int, day: Int) {
    let (cycle, dayOfCycle) = (unixDay + 719_468).flooredDivision(by: 146_097)
    let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0)
    return (Int(year), Int(month), Int(day))
  }

  private static func write(_ value: Int, digits: Int, to text: UnsafeMutableRawBufferPointer, at offset: Int) {
    var value = value
    for index in stride(from: offset + digits - 1, through: offset, by: -1) {
      text[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
      value /= 10
    }
  }
}

extension Int64 {
  /// Quotient and remainder with a remainder never below zero, so that times before 1970 come out right.
  fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
