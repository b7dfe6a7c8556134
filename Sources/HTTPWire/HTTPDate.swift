/// HTTP dates as Unix seconds. RFC 9110 §5.6.7
package enum HTTPDate {
  private static let dayNames = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let longDayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
  private static let monthNames = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Parses an IMF-fixdate or one of the two obsolete forms; nil for anything else.
  ///
  /// - Parameter nowUnixSeconds: decides the century of the two-digit year of the RFC 850 form, which is at most 50 years
  ///   ahead of it.
  package static func parse(_ text: String, nowUnixSeconds: Int64) -> Int64? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: true).map(String.init)
    guard text.utf8.count <= 64 else { return nil }
    if parts.count == 6, let day = parts[0].droppingComma, dayNames.contains(day) {
      // Sun, 06 Nov 1994 08:49:37 GMT
      guard parts[5] == "GMT", parts[1].utf8.count == 2, parts[3].utf8.count == 4 else { return nil }
      return seconds(year: parts[3], month: parts[2], day: parts[1], time: parts[4])
    }
    if parts.count == 4, let day = parts[0].droppingComma, longDayNames.contains(day) {
      // Sunday, 06-Nov-94 08:49:37 GMT
      let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard parts[3] == "GMT", date.count == 3, date[0].utf8.count == 2,
        let year = fullYear(date[2], nowUnixSeconds)
      else { return nil }
      return seconds(year: year, month: date[1], day: date[0], time: parts[2])
    }
    if parts.count == 5, dayNames.contains(parts[0]) {
      // Sun Nov  6 08:49:37 1994
      guard parts[4].utf8.count == 4, parts[2].utf8.count <= 2 else { return nil }
      return seconds(year: parts[4], month: parts[1], day: parts[2], time: parts[3])
    }
    return nil
  }

  /// Appends the IMF-fixdate form: `Sun, 06 Nov 1994 08:49:37 GMT`.
  package static func append(unixSeconds: Int64, to out: inout ByteBuffer) {
    let days = unixSeconds >= 0 ? unixSeconds / 86_400 : (unixSeconds - 86_399) / 86_400
    let (year, month, day) = CivilDate.date(ofDay: days)
    let second = unixSeconds - days * 86_400
    out.append(dayNames[Int(((days + 4) % 7 + 7) % 7)])
    out.append(", ")
    appendTwoDigits(day, to: &out)
    out.append(byte: ASCII.space)
    out.append(monthNames[month - 1])
    out.append(byte: ASCII.space)
    appendTwoDigits(year / 100, to: &out)
    appendTwoDigits(year % 100, to: &out)
    out.append(byte: ASCII.space)
    appendTwoDigits(Int(second / 3_600), to: &out)
    out.append(byte: UInt8(ascii: ":"))
    appendTwoDigits(Int(second / 60 % 60), to: &out)
    out.append(byte: UInt8(ascii: ":"))
    appendTwoDigits(Int(second % 60), to: &out)
    out.append(" GMT")
  }

  private static func appendTwoDigits(_ number: Int, to out: inout ByteBuffer) {
    out.append(byte: 0x30 + UInt8(truncatingIfNeeded: number / 10 % 10))
    out.append(byte: 0x30 + UInt8(truncatingIfNeeded: number % 10))
  }

  private static func number(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ ASCII.isDigit($0) }) else { return nil }
    return Int64(text)
  }

  private static func fullYear(_ text: String, _ nowUnixSeconds: Int64) -> String? {
    guard text.utf8.count == 2, let year = number(text) else { return nil }
    let thisYear = Int64(CivilDate.date(ofDay: nowUnixSeconds / 86_400).year)
    let candidate = thisYear / 100 * 100 + year
    return String(candidate > thisYear + 50 ? candidate - 100 : candidate)
  }

  private static func seconds(year: String, month: String, day: String, time: String) -> Int64? {
    let clock = time.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard clock.count == 3, clock.allSatisfy({ $0.utf8.count == 2 }), let hour = number(clock[0]),
      let minute = number(clock[1]), let second = number(clock[2]), hour < 24, minute < 60, second <= 60,
      let year = number(year), let monthIndex = monthNames.firstIndex(of: month), let day = number(day)
    else { return nil }
    let monthNumber = monthIndex + 1
    let dayNumber = CivilDate.day(year: Int(year), month: monthNumber, day: Int(day))
    // The 31st of a short month comes back as another date.
    guard CivilDate.date(ofDay: dayNumber) == (Int(year), monthNumber, Int(day)) else { return nil }
    return dayNumber * 86_400 + hour * 3_600 + minute * 60 + second
  }
}

/// The proleptic Gregorian calendar, as days since 1970-01-01, counted in years that begin in March and eras of 400
/// years.
package enum CivilDate {
  /// RFC 3339 in UTC, `2026-11-30T06:14:12Z`.
  package static func timestamp(unixSeconds: Int64) -> String {
    let secondOfDay = (unixSeconds % 86_400 + 86_400) % 86_400
    let (year, month, day) = date(ofDay: (unixSeconds - secondOfDay) / 86_400)
    func padded(_ number: Int, _ digits: Int = 2) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    let (hour, minute, second) = (Int(secondOfDay / 3_600), Int(secondOfDay / 60 % 60), Int(secondOfDay % 60))
    return "\(padded(year, 4))-\(padded(month))-\(padded(day))T\(padded(hour)):\(padded(minute)):\(padded(second))Z"
  }

  static func day(year: Int, month: Int, day: Int) -> Int64 {
    let shifted = Int64(month <= 2 ? year - 1 : year)
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let monthFromMarch = Int64((month + 9) % 12)
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  static func date(ofDay number: Int64) -> (year: Int, month: Int, day: Int) {
    let shifted = number + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    let month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
    return (Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0), month, day)
  }
}

extension String {
  /// Without the comma it must end with.
  fileprivate var droppingComma: String? {
    hasSuffix(",") ? String(dropLast()) : nil
  }
}
