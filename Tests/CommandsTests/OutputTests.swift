import HTTPWire
import Testing

@testable import Commands

struct TableTests {
  @Test func `columns are aligned, the last one is not padded`() {
    #expect(Table.render(["A", "LONG"], [["value", "x"], ["y", "z"]]) == ["A      LONG", "value  x", "y      z"])
  }

  @Test func `nothing is padded behind the last cell that holds something`() {
    #expect(Table.render(["A", "B", "C"], [["", "x", ""], ["y", "", ""]]) == ["A  B  C", "   x", "y"])
  }

  @Test func `colour does not count as width, and escapes do`() {
    let lines = Table.render(["A", "B"], [["\u{7}", "x"]]) { _, column, cell in column == 0 ? "<\(cell)>" : cell }
    #expect(lines == [#"A      B"#, #"<\u{7}>  x"#])
  }
}

struct PrintableTextTests {
  @Test(arguments: [
    ("plain text: äöü 日本 → ✓", "plain text: äöü 日本 → ✓"), ("", ""), ("a\u{1B}[2Jb", #"a\u{1b}[2Jb"#),
    ("\r\n\t\0", #"\u{d}\u{a}\u{9}\u{0}"#), ("\u{7F}\u{9B}", #"\u{7f}\u{9b}"#),
    ("a\u{202E}b\u{2066}c\u{2028}", #"a\u{202e}b\u{2066}c\u{2028}"#), ("\u{FEFF}x\u{200B}", #"\u{feff}x\u{200b}"#),
  ])
  func `what a terminal would obey or a reader be deceived by is escaped`(text: String, shown: String) {
    #expect(text.printable == shown)
  }
}

struct TerminalTests {
  @Test(arguments: [
    ([:], true), (["NO_COLOR": ""], true), (["NO_COLOR": "1"], false), (["TERM": "dumb"], false),
    (["TERM": "xterm"], true),
  ])
  func `NO_COLOR and a dumb terminal forbid colour`(environment: [String: String], allowed: Bool) {
    #expect(Terminal.allowsColour(environment) == allowed)
  }

  @Test func `without colour text stays as it is`() {
    #expect(Terminal(isColoured: false).coloured("x", .red) == "x")
    #expect(Terminal(isColoured: true).coloured("x", nil) == "x")
    #expect(Terminal(isColoured: true).coloured("x", .red) == "\u{1B}[31mx\u{1B}[0m")
  }
}

struct QuantityTests {
  @Test(arguments: [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7_199, "119 min"), (7_200, "2 h"), (172_800, "2 d")])
  func `a distance has the largest unit that says something`(seconds: Int64, text: String) {
    #expect(Quantity.seconds(seconds) == text)
    #expect(Quantity.seconds(-seconds) == text)
  }

  @Test func `a moment is relative and absolute`() {
    #expect(Quantity.moment(1_800_000_240, now: 1_800_000_000) == "in 4 min (2027-01-15T08:04:00Z)")
    #expect(Quantity.moment(1_799_999_990, now: 1_800_000_000) == "10 s ago (2027-01-15T07:59:50Z)")
    #expect(Quantity.moment(-1, now: 0) == "1 s ago (1969-12-31T23:59:59Z)")
    #expect(Quantity.moment(60, now: 60) == "now (1970-01-01T00:01:00Z)")
    #expect(Quantity.moment(nil, now: 0) == "-")
    #expect(Quantity.moment(.max, now: -5) == "-")
    #expect(Quantity.moment(.max, now: 5) == "-")
  }

  @Test(arguments: [
    (0.0, "0.0 ms"), (4.647, "4.6 ms"), (9.96, "10.0 ms"), (99.97, "100.0 ms"), (100.4, "100 ms"),
    (1e300, "9223372036854775807 ms"), (-1, "-"), (.nan, "-"), (.infinity, "-"),
  ])
  func `milliseconds have a tenth where it matters`(value: Double, text: String) {
    #expect(Quantity.milliseconds(value) == text)
  }

  @Test func `nouns have their plural`() {
    #expect([0, 1, 2].map { Quantity.count($0, "route") } == ["0 routes", "1 route", "2 routes"])
  }
}

struct StatusTextTests {
  private static let status: JSONValue = [
    "version": "0.1.0", "pid": 42, "started_at": 1_799_999_700, "configuration": "/etc/proofd.yaml",
    "listeners": ["127.0.0.1:9449", "[::1]:9449"], "routes": 2, "log": ["dropped": 3],
    "credentials": [
      [
        "name": "machine", "kind": "client_credentials", "state": "ready", "can_serve": true,
        "expires_at": 1_800_000_240, "last_refresh_at": 1_799_999_940, "next": "Nothing to do.",
      ],
      [
        "name": "legacy", "kind": "file", "state": "refused", "can_serve": false,
        "last_failure": ["code": "file_missing", "detail": "no such file\u{1B}", "at": 1_799_999_990],
        "next": "See to the file.", "warnings": ["others can read it"],
      ],
    ],
  ]

  private func lines(coloured: Bool) throws -> [String] {
    StatusText(terminal: Terminal(isColoured: coloured), now: 1_800_000_000)
      .lines(Self.status, try #require(Self.status["credentials"]?.arrayValue))
  }

  @Test func `the daemon, then each credential, then what went wrong`() throws {
    #expect(
      try lines(coloured: false) == [
        "proofd 0.1.0, pid 42, up 5 min, 2 routes", "listens on 127.0.0.1:9449, [::1]:9449",
        "configuration /etc/proofd.yaml", "the log lacks 3 records", "",
        "CREDENTIAL  KIND                STATE    EXPIRES                          LAST REFRESH"
          + "                     NEXT",
        "machine     client_credentials  ready    in 4 min (2027-01-15T08:04:00Z)  60 s ago (2027-01-15T07:59:00Z)"
          + "  Nothing to do.",
        "legacy      file                refused  -                                -"
          + "                                See to the file.",
        #"legacy: failed 10 s ago (2027-01-15T07:59:50Z): file_missing: no such file\u{1b}"#,
        "legacy: warning: others can read it",
      ])
  }

  @Test func `a state that serves is green, one that does not red`() throws {
    let lines = try lines(coloured: true)
    #expect(lines.contains { $0.contains("\u{1B}[32mready  \u{1B}[0m") })
    #expect(lines.contains { $0.contains("\u{1B}[31mrefused\u{1B}[0m") })
  }

  @Test func `an answer without what is expected is shown all the same`() {
    let lines = StatusText(terminal: Terminal(isColoured: false), now: 0).lines([:], [[:]])
    #expect(lines.first == "proofd ?, pid 0, 0 routes")
  }
}
