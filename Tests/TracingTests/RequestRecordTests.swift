import HTTPWire
import Testing

@testable import Tracing

@Suite struct RequestRecordTests {
  @Test func `a full record is one line of JSON with its members in the documented order`() {
    let draft = RecordDraft(target: "/orders?limit=10") { record in
      record.subject = RecordSubject(
        route: LogLabel("orders"), credential: LogLabel("acme/work"),
        upstream: LogLabel(url: "https://api.example.com/v1/orders"))
      record.caller = LogLabel("uid 1000")
      record.status = 200
      record.source = .upstream
      record.durationNanoseconds = 12_345_678
      record.upstreamNanoseconds = 9_000_000
      record.requestBytes = 17
      record.responseBytes = 4_096
      record.attempts = 2
      record.auth = AuthEvents(.cached, .nonceRetry)
      record.reused = true
      record.error = LogLabel("upstream_closed")
    }
    #expect(
      draft.line() == """
        {"time":"2026-11-30T06:14:12.345Z","id":"04hmasw9nf6y","event":"request","route":"orders","credential":"acme/work",\
        "caller":"uid 1000","method":"GET","target":"/orders?limit=10","upstream":"https://api.example.com/v1/orders",\
        "status":200,"source":"upstream","duration_ms":12.345,"upstream_ms":9,"request_bytes":17,"response_bytes":4096,\
        "attempts":2,"auth":["cached","nonce_retry"],"reused":true,"error":"upstream_closed"}

        """)
  }

  @Test func `what is absent is left out`() {
    var draft = RecordDraft(target: nil)
    draft.method = nil
    draft.event = .oauth
    #expect(
      draft.line() == """
        {"time":"2026-11-30T06:14:12.345Z","id":"04hmasw9nf6y","event":"oauth","duration_ms":0,"request_bytes":0,\
        "response_bytes":0,"attempts":0}

        """)
  }

  @Test(
    arguments: [
      (0, "0"), (999, "0"), (1_000, "0.001"), (10_000, "0.01"), (100_000, "0.1"), (1_000_000, "1"),
      (1_234_567, "1.234"),
      (1_200_000, "1.2"), (1_030_999, "1.03"), (3_600_000_000_000, "3600000"), (UInt64.max, "18446744073709.551"),
    ] as [(UInt64, String)])
  func `a duration has at most three decimals and no idle zeros`(nanoseconds: UInt64, text: String) {
    let line = RecordDraft { $0.durationNanoseconds = nanoseconds }.line()
    #expect(line.contains("\"duration_ms\":\(text),"))
  }

  @Test(arguments: [
    "a\r\nb", "\u{1B}[31mred\u{1B}[0m", "\"}\n{\"event\":\"forged\"}", "\\", "\\u0000", "\u{0}", "\u{7F}\u{9B}31m",
    "\u{202E}gnp.exe", "line\u{2028}separator", "日本語", "\u{1F600}",
  ])
  func `hostile text stays inside its string and its line`(text: String) throws {
    var draft = RecordDraft(target: "/\(text)") { record in
      record.subject = RecordSubject(route: LogLabel(text))
      record.error = LogLabel(text)
    }
    draft.method = Array("GET\(text)".utf8)
    let line = draft.line()
    let value = try JSONValue(parsing: Array(line.utf8))
    #expect(line.filter(\.isNewline).count == 1)
    #expect(line.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) })
    #expect(value["target"] == .string("/\(text)"))
    #expect(value["method"] == .string("GET\(text)"))
  }

  @Test(arguments: 0..<16 as Range<UInt64>)
  func `any bytes make a line of valid JSON`(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    for _ in 0..<100 {
      var draft = RecordDraft()
      draft.target = (0..<Int.random(in: 0..<300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random)
      }
      draft.method = (0..<Int.random(in: 0..<20, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let line = draft.line()
      #expect(line.utf8.filter { $0 == 10 }.count == 1)
      #expect(throws: Never.self) { try JSONValue(parsing: Array(line.utf8)) }
    }
  }

  @Test func `the largest record there can be fits`() throws {
    let long = LogLabel(String(repeating: "\u{1}", count: 300))
    let line = RecordDraft(target: String(repeating: "/\u{1}", count: 1_000)) { record in
      record.subject = RecordSubject(route: long, credential: long, upstream: long)
      (record.caller, record.error) = (long, long)
      record.status = .max
      record.source = .upstream
      record.durationNanoseconds = .max
      record.upstreamNanoseconds = .max
      record.requestBytes = .max
      record.responseBytes = .max
      record.attempts = .max
      for _ in 0..<16 { record.auth.append(.nonceNotReplayable) }
      record.reused = false
    }.line()
    #expect(try JSONValue(parsing: line)["request_bytes"] == .number("18446744073709551615"))
  }

  @Test func `a method that is a secret is hidden as a target would be`() {
    var draft = RecordDraft()
    draft.method = Array(RedactionMatrixTests.jwt.utf8)
    #expect(draft.line().withoutHashes.contains("\"method\":\"[…]\""))
  }

  @Test func `a label is cut where it gets too long and redacted if it is a URL`() {
    let long = String(decoding: LogLabel(String(repeating: "é", count: 300)).json, as: UTF8.self)
    #expect(long == "\"" + String(repeating: "é", count: 256) + "…\"")
    let url = String(decoding: LogLabel(url: "https://u:p@x.example/a?token=abc").json, as: UTF8.self)
    #expect(url.withoutHashes == "\"https://x.example/a?token=[…]\"")
  }
}

@Suite struct AuthEventsTests {
  @Test func `events keep their order and may repeat`() {
    var events = AuthEvents(.cached)
    events.append(.tokenRetry)
    events.append(.nonceRetry)
    events.append(.nonceRetry)
    var seen: [AuthEvents.Event] = []
    events.forEach { seen.append($0) }
    #expect(seen == [.cached, .tokenRetry, .nonceRetry, .nonceRetry])
    #expect(events.count == 4)
  }

  @Test func `what does not fit is left out`() {
    var events = AuthEvents()
    #expect(events.isEmpty)
    for _ in 0..<40 { events.append(.none) }
    #expect(events.count == 16)
  }

  @Test func `every event has the name the documentation gives it`() {
    let names = AuthEvents.Event.allCases.map { "\($0.name)" }
    #expect(names == ["cached", "refreshed", "nonce_retry", "token_retry", "nonce_not_replayable", "static", "none"])
  }
}

@Suite struct TimestampTests {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
      (951_868_799_999_999_999, "2000-02-29T23:59:59.999Z"), (951_868_800_000_000_000, "2000-03-01T00:00:00.000Z"),
      (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"), (4_107_542_399_000_000_000, "2100-02-28T23:59:59.000Z"),
      (1_735_689_599_123_000_000, "2024-12-31T23:59:59.123Z"), (-2_203_891_200_000_000_000, "1900-03-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `times are written as RFC 3339 has it`(nanoseconds: Int64, text: String) {
    #expect(Timestamp.text(nanoseconds) == text)
  }

  @Test func `the cached second is given up in time, forwards and backwards`() {
    var timestamp = Timestamp()
    for (nanoseconds, text) in [
      (1_000_000_000, "1970-01-01T00:00:01.000Z"), (1_999_000_000, "1970-01-01T00:00:01.999Z"),
      (2_000_000_000, "1970-01-01T00:00:02.000Z"), (1_500_000_000, "1970-01-01T00:00:01.500Z"),
    ] as [(Int64, String)] {
      #expect(timestamp.withText(of: nanoseconds) { String(decoding: $0, as: UTF8.self) } == text)
    }
  }
}

@Suite struct RequestIDTests {
  @Test func `IDs of several loops are short, unique and count up`() throws {
    let hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets())
    defer { hub.flushAndClose() }
    let logs = (0..<3).map { _ in LoopLog(hub: hub) }
    var seen: Set<String> = []
    for _ in 0..<5_000 {
      for log in logs { seen.insert(log.nextID().description) }
      seen.insert(hub.nextID().description)
    }
    #expect(seen.count == 20_000)
    #expect(
      seen.allSatisfy { $0.utf8.count == 12 && $0.allSatisfy { "0123456789abcdefghjkmnpqrstvwxyz".contains($0) } })
    // What is drawn at the start is common to them all.
    #expect(Set(seen.map { $0.prefix(5) }).count == 1)
  }
}
