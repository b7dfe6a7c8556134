import HTTPWire
import Testing

/// What a scanner made of `bytes` read in pieces that end at `cuts`.
struct ScannedBody: Equatable {
  var payload: [UInt8] = []
  var trailers: [UInt8] = []
  /// What follows the body; nil while it is incomplete.
  var rest: [UInt8]?
  var violation: ChunkViolation?

  init(_ bytes: [UInt8], cuts: [Int] = []) {
    var scanner = ChunkScanner()
    var start = 0
    for cut in cuts + [bytes.count] {
      while true {
        var isWaiting = false
        Array(bytes[start..<cut]).withUnsafeBytes { piece in
          switch scanner.next(piece) {
          case .payload(let range, let consumed):
            payload += piece.slice(range)
            start += consumed
          case .trailer(let range, let consumed):
            trailers += piece.slice(range)
            start += consumed
          case .needMore(let consumed):
            start += consumed
            isWaiting = true
          case .end(let consumed):
            start += consumed
            rest = Array(bytes[start...])
            isWaiting = true
          case .violation(let violation):
            self.violation = violation
            trailers = []
            isWaiting = true
          }
        }
        if isWaiting { break }
      }
      if rest != nil || violation != nil { return }
    }
  }
}

struct ChunkScannerTests {
  struct Good: Sendable, CustomTestStringConvertible {
    let name: String
    let body: String
    let payload: String
    var testDescription: String { name }

    init(_ name: String, _ body: String, _ payload: String) {
      self.name = name
      self.body = body
      self.payload = payload
    }
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    let name: String
    let body: String
    let violation: ChunkViolation
    var testDescription: String { name }

    init(_ name: String, _ body: String, _ violation: ChunkViolation) {
      self.name = name
      self.body = body
      self.violation = violation
    }
  }

  static let good = [
    Good("empty", "0\r\n\r\n", ""),
    Good("one chunk", "5\r\nhello\r\n0\r\n\r\n", "hello"),
    Good("two chunks", "4\r\nWiki\r\nA\r\n0123456789\r\n0\r\n\r\n", "Wiki0123456789"),
    Good("lower-case and leading zeros", "000a\r\n0123456789\r\n0000000000000000\r\n\r\n", "0123456789"),
    Good("line ends in the data", "6\r\n\r\n0\r\n\r\r\n0\r\n\r\n", "\r\n0\r\n\r"),
    Good("extension", "1;a\r\nx\r\n0;b=c\r\n\r\n", "x"),
    Good("extension with whitespace", "1 \t; a = \"b c;\t\"\r\nx\r\n0\r\n\r\n", "x"),
    Good("trailers", "1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\n", "x"),
    Good("extension at its bound", "1;\(String(repeating: "a", count: 1_023))\r\nx\r\n0\r\n\r\n", "x"),
  ]

  static let bad = [
    Bad("no size", "\r\nx\r\n0\r\n\r\n", .size),
    Bad("plus sign", "+1\r\nx\r\n0\r\n\r\n", .size),
    Bad("minus sign", "-1\r\nx\r\n0\r\n\r\n", .size),
    Bad("0x", "0x1\r\nx\r\n0\r\n\r\n", .size),
    Bad("space before the size", " 1\r\nx\r\n0\r\n\r\n", .size),
    Bad("space after the size", "1 \r\nx\r\n0\r\n\r\n", .size),
    Bad("underscore", "1_0\r\nx\r\n0\r\n\r\n", .size),
    Bad("not hexadecimal", "g\r\nx\r\n0\r\n\r\n", .size),
    Bad("comma", "1,1\r\nx\r\n0\r\n\r\n", .size),
    Bad("17 digits", "00000000000000001\r\nx\r\n0\r\n\r\n", .sizeTooLarge),
    Bad("2^63", "8000000000000000\r\nx", .sizeTooLarge),
    Bad("2^64", "10000000000000000\r\nx", .sizeTooLarge),
    Bad("LF after the size", "1\nx\r\n0\r\n\r\n", .lineEnd),
    Bad("CR alone after the size", "1\rx\r\n0\r\n\r\n", .lineEnd),
    Bad("LF in an extension", "1;a\nx\r\n0\r\n\r\n", .lineEnd),
    Bad("CR alone in an extension", "1;a\rb\r\nx\r\n0\r\n\r\n", .lineEnd),
    Bad("CR in a quoted extension", "1;a=\"\rb\"\r\nx\r\n0\r\n\r\n", .lineEnd),
    Bad("control byte in an extension", "1;a\u{0B}\r\nx\r\n0\r\n\r\n", .chunkExtension),
    Bad("NUL in an extension", "1;\0\r\nx\r\n0\r\n\r\n", .chunkExtension),
    Bad("extension too long", "1;\(String(repeating: "a", count: 1_024))\r\nx\r\n0\r\n\r\n", .extensionTooLarge),
    Bad("whitespace without end", "1\(String(repeating: " ", count: 1_026))", .extensionTooLarge),
    Bad("data longer than the size", "1\r\nxy\r\n0\r\n\r\n", .dataEnd),
    Bad("data shorter than the size", "3\r\nx\r\n0\r\n\r\n", .dataEnd),
    Bad("LF after the data", "1\r\nx\n0\r\n\r\n", .dataEnd),
    Bad("CR alone after the data", "1\r\nx\r0\r\n\r\n", .dataEnd),
    Bad("LF after the last chunk", "0\n\n", .lineEnd),
    Bad("LF for the last line", "0\r\n\n", .lineEnd),
    Bad("CR alone for the last line", "0\r\n\rx", .lineEnd),
    Bad("trailer without a name", "0\r\n: x\r\n\r\n", .trailer),
    Bad("trailer without a colon", "0\r\nabc\r\n\r\n", .trailer),
    Bad("space before the trailer's colon", "0\r\na : b\r\n\r\n", .trailer),
    Bad("folded trailer", "0\r\na: b\r\n c\r\n\r\n", .trailer),
    Bad("control byte in a trailer", "0\r\na: \u{1B}\r\n\r\n", .trailer),
    Bad("LF in a trailer", "0\r\na: b\nc: d\r\n\r\n", .lineEnd),
    Bad("CR alone in a trailer", "0\r\na: b\rc: d\r\n\r\n", .lineEnd),
    Bad("request in the trailers", "0\r\nGET / HTTP/1.1\r\n\r\n", .trailer),
    Bad("trailers too long", "0\r\na: \(String(repeating: "b", count: 8_192))\r\n\r\n", .trailersTooLarge),
    Bad("too many trailers", "0\r\n\(String(repeating: "a:\r\n", count: 65))\r\n", .trailersTooLarge),
  ]

  @Test(arguments: good)
  func `the payload is the same at every split`(_ sample: Good) {
    let bytes = latin1(sample.body + "GET")
    let whole = ScannedBody(bytes)
    #expect(whole.payload == latin1(sample.payload))
    #expect(whole.rest == latin1("GET"))
    let end = bytes.count - 3
    for cut in 0..<end {
      let split = ScannedBody(bytes, cuts: [cut])
      #expect(split.payload == whole.payload)
      #expect(split.rest == whole.rest)
      #expect(ScannedBody(Array(bytes[..<cut])).rest == nil)
    }
    let bytewise = ScannedBody(Array(bytes[..<end]), cuts: Array(0..<end))
    #expect(bytewise.payload == whole.payload)
    #expect(bytewise.rest == [])
  }

  @Test(arguments: bad)
  func `a bad body is refused for the same reason at every split`(_ sample: Bad) {
    let bytes = latin1(sample.body)
    let whole = ScannedBody(bytes)
    #expect(whole.violation == sample.violation)
    for cut in stride(from: 0, through: bytes.count, by: bytes.count > 2_000 ? 97 : 1) {
      #expect(ScannedBody(bytes, cuts: [cut]) == whole)
    }
    #expect(ScannedBody(bytes, cuts: Array(0...bytes.count)) == whole)
  }

  @Test func `the largest chunk is announced and read in pieces`() {
    var scanner = ChunkScanner()
    latin1("7fffffffffffffff\r\nabc").withUnsafeBytes { bytes in
      #expect(scanner.next(bytes) == .payload(range: 18..<21, consumed: 21))
    }
    latin1("d").withUnsafeBytes { #expect(scanner.next($0) == .payload(range: 0..<1, consumed: 1)) }
    #expect(!scanner.isAtEnd)
  }

  @Test func `trailer lines are pointed at however they are cut, the empty line is not one`() {
    let bytes = latin1("1\r\nx\r\n0\r\nA: b\r\nC:\r\n\r\nrest")
    let whole = ScannedBody(bytes)
    #expect(String(decoding: whole.trailers, as: UTF8.self) == "A: b\r\nC:\r\n")
    #expect(whole.rest == latin1("rest"))
    for cut in 0...bytes.count { #expect(ScannedBody(bytes, cuts: [cut]) == whole, "\(cut)") }
    #expect(ScannedBody(bytes, cuts: Array(0...bytes.count)) == whole)
    #expect(ScannedBody(latin1("0\r\n\r\n")).trailers.isEmpty)
  }

  @Test func `the end and a violation stay`() {
    var ended = ChunkScanner()
    latin1("0\r\n\r\n").withUnsafeBytes { #expect(ended.next($0) == .end(consumed: 5)) }
    #expect(ended.isAtEnd)
    latin1("1").withUnsafeBytes { #expect(ended.next($0) == .end(consumed: 0)) }
    var failed = ChunkScanner()
    latin1("x").withUnsafeBytes { #expect(failed.next($0) == .violation(.size)) }
    latin1("0\r\n\r\n").withUnsafeBytes { #expect(failed.next($0) == .violation(.size)) }
  }

  @Test func `random bodies come out whole however they are cut`() {
    var random = SeededRandom(seed: 53)
    for _ in 0..<500 {
      var body: [UInt8] = []
      var payload: [UInt8] = []
      for _ in 0..<Int.random(in: 0...5, using: &random) {
        let data = (0..<Int.random(in: 1...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        payload += data
        body += latin1(String(data.count, radix: 16)) + latin1("\r\n") + data + latin1("\r\n")
      }
      body += latin1("0\r\n\r\n")
      let cuts = (0..<Int.random(in: 0...6, using: &random)).map { _ in Int.random(in: 0..<body.count, using: &random) }
      let scanned = ScannedBody(body, cuts: cuts.sorted())
      #expect(scanned.payload == payload)
      #expect(scanned.rest == [])
    }
  }

  @Test func `every violation has a sentence of its own`() {
    let all = Set(Self.bad.map { "\($0.violation)" })
    #expect(Set(Self.bad.map { "\($0.violation.detail)" }).count == all.count)
  }
}
