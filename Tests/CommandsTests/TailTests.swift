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
  private func printer(coloured: Bool = false) throws -> RecordPrinter {
    RecordPrinter(
      filter: try RecordFilter(try Arguments([], options: [])), json: false,
      terminal: Terminal(isColoured: coloured))
  }

  private func text(_ json: String) throws -> String { try printer().text(try JSONValue(parsing: json)) }

  @Test func `a request is one line of what matters, in columns`() throws {
    let line = try text(
      """
      {"time":"2026-11-30T08:05:30.051Z","id":"x","event":"request","route":"api","method":"GET","target":"/api/echo",
      "upstream":"https://api.example.com/","status":200,"duration_ms":4.647,"auth":["cached","nonce_retry"]}
      """)
    #expect(
      line
        == "08:05:30.051Z 200 GET     /api/echo                     api → https://api.example.com/"
        + "            4.6 ms   cached,nonce_retry")
  }

  @Test func `an own answer names its code, and a route without credential no auth`() throws {
    let line = try text(
      #"{"time":"2026-11-30T08:05:30.051Z","event":"request","method":"GET","target":"/x","status":404,"duration_ms":1,"auth":["none"],"error":"no_route"}"#
    )
    #expect(line.hasPrefix("08:05:30.051Z 404 GET     /x "))
    #expect(line.hasSuffix(" 1.0 ms   no_route"))
  }

  @Test func `a call of an authorization server names the credential`() throws {
    let line = try text(
      #"{"time":"2026-11-30T08:05:30.051Z","event":"oauth","credential":"machine","method":"POST","target":"/token","upstream":"https://id.example.com/token","status":401,"duration_ms":120.4,"error":"invalid_client"}"#
    )
    #expect(line.hasPrefix("08:05:30.051Z 401 POST    /token "))
    #expect(line.hasSuffix(" machine → https://id.example.com/token    120 ms   oauth invalid_client"))
  }

  @Test func `a notice says how many records are missing`() throws {
    let line = try text(#"{"time":"2026-11-30T08:05:30.051Z","event":"log","dropped":12}"#)
    #expect(line == "08:05:30.051Z ··· 12 records dropped here")
  }

  @Test(arguments: [("204", 32), ("302", 36), ("404", 33), ("503", 31)])
  func `the status has the colour of its class`(status: String, colour: Int) throws {
    let record = try JSONValue(parsing: #"{"event":"request","status":\#(status)}"#)
    #expect(try printer(coloured: true).text(record).contains("\u{1B}[\(colour)m\(status)\u{1B}[0m"))
  }

  @Test func `what a terminal would obey is shown, not sent`() throws {
    let line = try text(#"{"time":"t","event":"request","method":"GET","target":"/\u001b[31mred\u0007","status":200}"#)
    #expect(!line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F })
    #expect(line.contains(#"/\u{1b}[31mred\u{7}"#))
  }

  @Test(arguments: ["{}", #"{"time":5,"status":"x","method":[],"auth":"x","duration_ms":-1,"upstream":null}"#])
  func `a record that lacks what it should have is shown all the same`(json: String) throws {
    #expect(try text(json).hasPrefix("-             --- -       - "))
  }

  @Test func `raw lines stay as they are unless a terminal could obey them`() throws {
    let printer = try printer()
    let plain = Array(#"{ "a": "\u001b" }"#.utf8)
    #expect(printer.raw(plain, try JSONValue(parsing: plain)) == plain)
    let bad = Array("{ \"a\": \"\u{9B}31m\u{202E}\" }".utf8)
    #expect(printer.raw(bad, try JSONValue(parsing: bad)) == Array(#"{"a":"\u009b31m\u202e"}"#.utf8))
  }

  @Test(arguments: ["", "no json", "[]", "5", "{\"a\":", "{\"a\":1}}"])
  func `a line that is no record is passed over`(line: String) throws {
    #expect(try !printer().isShown(Array(line.utf8)))
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
    #expect(try filter("--route", "other").matches(["event": "log", "dropped": 1]))
  }

  @Test(arguments: ["", "x", "600", "6xx", "4x", "99"])
  func `a status that is none is a usage failure`(text: String) {
    #expect(throws: CommandFailure.self) { try filter("--status", text) }
  }
}
