import HTTPWire
import Testing

@testable import Commands

struct EventStreamParserTests {
  private static let stream = Array(
    ": comment\r\nevent: record\r\ndata: {\"a\":1}\r\n\r\ndata:{\"b\":2}\n\ndata: one\ndata: two\n\nretry: 5\n\ndata: cut"
      .utf8)
  private static let expected = ["{\"a\":1}", "{\"b\":2}", "one\ntwo"].map { Array($0.utf8) }

  @Test func `events are the same however the bytes are cut`() {
    for cut in 0...Self.stream.count {
      var parser = EventStreamParser()
      #expect(parser.parse(Self.stream[..<cut]) + parser.parse(Self.stream[cut...]) == Self.expected)
    }
    var byteByByte = EventStreamParser()
    #expect(Self.stream.flatMap { byteByByte.parse([$0]) } == Self.expected)
  }
}

struct RecordPrinterTests {
  private func text(_ json: String) throws -> String {
    let printer = RecordPrinter(
      filter: try RecordFilter(try Arguments([], options: [])), json: false,
      terminal: Terminal(environment: ["NO_COLOR": "1"]))
    return printer.text(try JSONValue(parsing: json))
  }

  @Test func `a request is one line of what matters`() throws {
    let line = try text(
      """
      {"time":"2026-11-30T08:05:30.051Z","id":"x","event":"request","route":"api","method":"GET","target":"/api/echo",
      "upstream":"https://api.example.com/","status":200,"duration_ms":4.647,"auth":["cached","nonce_retry"]}
      """)
    #expect(line == "08:05:30.051 200 GET  /api/echo → https://api.example.com/ 4.647 ms cached,nonce_retry")
  }

  @Test func `an own answer names its code, and a route without credential no auth`() throws {
    let line = try text(
      #"{"time":"2026-11-30T08:05:30.051Z","event":"request","method":"GET","target":"/x","status":404,"duration_ms":1,"auth":["none"],"error":"no_route"}"#
    )
    #expect(line.hasSuffix("404 GET  /x 1.0 ms no_route"))
  }

  @Test func `what a terminal would obey is shown, not sent`() throws {
    let line = try text(#"{"time":"t","event":"request","method":"GET","target":"/\u001b[31mred\u0007","status":200}"#)
    #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
  }
}

struct RecordFilterTests {
  private func filter(_ words: String...) throws -> RecordFilter {
    try RecordFilter(try Arguments(words, options: Verb.tail.options))
  }
  private static let record: JSONValue = [
    "route": "api", "credential": "machine", "status": 404,
  ]

  @Test func `filters hold together`() throws {
    #expect(try filter().matches(Self.record))
    #expect(try filter("--route", "api", "--status", "4xx", "--credential", "machine").matches(Self.record))
    #expect(try filter("--status", "404").matches(Self.record))
    #expect(try !filter("--status", "5xx").matches(Self.record))
    #expect(try !filter("--route", "other").matches(Self.record))
    #expect(try !filter("--credential", "other").matches(Self.record))
  }

  @Test(arguments: ["", "x", "600", "6xx", "4x", "99"])
  func `a status that is none is a usage failure`(text: String) {
    #expect(throws: CommandFailure.self) { try filter("--status", text) }
  }
}

struct TableTests {
  @Test func `columns are aligned, the last one is not padded`() {
    #expect(Table.render(["A", "LONG"], [["value", "x"], ["y", "z"]]) == ["A      LONG", "value  x", "y      z"])
  }
}
