import HTTPWire
import OAuth
import Testing

private let now: Int64 = 1_800_000_000

/// A response that came after `roundTrip` seconds, by a server whose clock is `ahead` seconds ahead.
private func sample(ahead: Int64, roundTrip: Double = 0.02, stampedAfter: Double? = nil) -> ClockSample {
  let stamped = Double(now) - roundTrip + (stampedAfter ?? roundTrip / 2) + Double(ahead)
  return ClockSample(
    dateUnixSeconds: Int64(stamped.rounded(.down)), roundTripNanoseconds: Int64(roundTrip * 1e9),
    receivedWallNanoseconds: now * 1_000_000_000)
}

struct ClockSkewTests {
  let skew = ClockSkew()

  @Test func `C57 a clock that is 90 s fast is corrected after one response`() {
    skew.observe(sample(ahead: -90))
    #expect((-91 ... -90).contains(skew.seconds))
    let issuedAt = skew.issuedAtUnixSeconds(wallNanoseconds: now * 1_000_000_000 + 999_999_999)
    #expect(issuedAt == now + skew.seconds)
  }

  @Test(arguments: [Int64(-2), -1, 0, 1, 2])
  func `differences up to two seconds are left alone`(ahead: Int64) {
    skew.observe(
      ClockSample(
        dateUnixSeconds: now + ahead, roundTripNanoseconds: 0, receivedWallNanoseconds: now * 1_000_000_000))
    #expect(skew.seconds == 0)
  }

  @Test(arguments: [Int64(-3600), -30, -5, 4, 30, 3600])
  func `a proof is never dated later than the server's clock`(ahead: Int64) {
    for fraction in [Int64(0), 1, 499_999_999, 999_999_999] {
      let skew = ClockSkew()
      let wall = now * 1_000_000_000 + fraction
      let server = wall + ahead * 1_000_000_000
      skew.observe(
        ClockSample(
          dateUnixSeconds: server / 1_000_000_000, roundTripNanoseconds: 0, receivedWallNanoseconds: wall))
      let issuedAt = skew.issuedAtUnixSeconds(wallNanoseconds: wall)
      #expect(issuedAt <= server / 1_000_000_000)
      #expect(issuedAt >= server / 1_000_000_000 - 2)
    }
  }

  @Test func `an answer that took more than ten seconds teaches nothing`() {
    skew.observe(sample(ahead: 600, roundTrip: 10.1))
    #expect(skew.seconds == 0)
  }

  @Test func `a slow answer of an exact clock teaches nothing either`() {
    skew.observe(sample(ahead: 0, roundTrip: 9, stampedAfter: 9))
    #expect(skew.seconds == 0)
    skew.observe(sample(ahead: 0, roundTrip: 9, stampedAfter: 0))
    #expect(skew.seconds == 0)
  }

  @Test func `a correction is kept while answers agree and dropped when the clock is set right`() {
    skew.observe(sample(ahead: 90))
    let learned = skew.seconds
    skew.observe(sample(ahead: 91))
    skew.observe(sample(ahead: 90, roundTrip: 8, stampedAfter: 0))
    #expect(skew.seconds == learned)
    skew.observe(sample(ahead: 0))
    #expect(skew.seconds == 0)
  }

  @Test func `a correction is a day at most`() {
    skew.observe(sample(ahead: 10 * 86_400))
    #expect(skew.seconds == 86_400)
    skew.observe(sample(ahead: -10 * 86_400))
    #expect(skew.seconds == -86_400)
  }

  @Test func `dates beyond reason are ignored`() {
    for date in [Int64.min, -1, Int64.max] {
      skew.observe(
        ClockSample(dateUnixSeconds: date, roundTripNanoseconds: 0, receivedWallNanoseconds: now * 1_000_000_000))
    }
    skew.observe(
      ClockSample(dateUnixSeconds: now + 90, roundTripNanoseconds: -1, receivedWallNanoseconds: now * 1_000_000_000))
    #expect(skew.seconds == 0)
  }

  @Test func `each origin has its own clock`() throws {
    let table = ClockSkewTable()
    let one = try Origin(parsing: "https://one.example")
    table.skew(of: one).observe(sample(ahead: 90))
    #expect(table.skew(of: one).seconds != 0)
    #expect(table.skew(of: try Origin(parsing: "https://two.example")).seconds == 0)
  }
}
