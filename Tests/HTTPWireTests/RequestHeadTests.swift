import HTTPWire
import Testing

struct RequestHeadTests {
  struct Good: Sendable, CustomTestStringConvertible {
    let name: String
    let head: String
    let summary: String
    var testDescription: String { name }

    init(_ name: String, _ head: String, _ summary: String) {
      self.name = name
      self.head = head
      self.summary = summary
    }
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    let name: String
    let head: String
    let violation: HeadViolation
    var testDescription: String { name }

    init(_ name: String, _ head: String, _ violation: HeadViolation) {
      self.name = name
      self.head = head
      self.violation = violation
    }
  }

  static let good = [
    Good("plain GET", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / 1.1 a none persistent"),
    Good("port in Host", "GET / HTTP/1.1\r\nHost: a.b:9449\r\n\r\n", "GET / 1.1 a.b:9449 none persistent"),
    Good("IPv6 Host", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET / 1.1 [::1]:80 none persistent"),
    Good("HTTP/1.0 without Host", "GET / HTTP/1.0\r\n\r\n", "GET / 1.0 - none "),
    Good(
      "HTTP/1.0 keep-alive", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET / 1.0 - none persistent"),
    Good("close", "GET / HTTP/1.1\r\nHost: a\r\nConnection: CLOSE\r\n\r\n", "GET / 1.1 a none "),
    Good(
      "close in a list", "GET / HTTP/1.1\r\nHost: a\r\nConnection: ,keep-alive, , close,\r\n\r\n", "GET / 1.1 a none "),
    Good(
      "Connection names a field", "GET / HTTP/1.1\r\nHost: a\r\nConnection: X-Foo\r\nX-Foo: 1\r\n\r\n",
      "GET / 1.1 a none persistent,names"),
    Good(
      "Content-Length", "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n",
      "POST /x 1.1 a length(12) persistent"),
    Good(
      "Content-Length 0", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", "POST / 1.1 a length(0) persistent"
    ),
    Good(
      "largest Content-Length", "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n",
      "PUT / 1.1 a length(9223372036854775807) persistent"),
    Good(
      "chunked", "POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: Chunked\r\n\r\n", "POST / 1.1 a chunked persistent"),
    Good(
      "Expect", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n",
      "POST / 1.1 a length(1) persistent,continue"),
    Good(
      "Expect in HTTP/1.0 is ignored", "POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n",
      "POST / 1.0 - length(1) "),
    Good(
      "WebSocket", "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
      "GET / 1.1 a none persistent,upgrade"),
    Good(
      "Upgrade that Connection does not list", "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n\r\n",
      "GET / 1.1 a none persistent"),
    Good("asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * 1.1 a none persistent"),
    Good(
      "unknown method", "m-search /~!$&'()*+,;=:@%2F HTTP/1.1\r\nHost: a\r\n\r\n",
      "m-search /~!$&'()*+,;=:@%2F 1.1 a none persistent"),
    Good("whitespace around a value", "GET / HTTP/1.1\r\nHost:\t a \t\r\n\r\n", "GET / 1.1 a none persistent"),
    Good("no whitespace before a value", "GET / HTTP/1.1\r\nHost:a\r\n\r\n", "GET / 1.1 a none persistent"),
    Good("empty value", "GET / HTTP/1.1\r\nHost: a\r\nX:\r\nY: \r\n\r\n", "GET / 1.1 a none persistent"),
    Good(
      "HTAB and obs-text in a value",
      "GET / HTTP/1.1\r\nHost: a\r\nX-Long-Enough: a\tb\u{80}\u{FF} longer value\r\n\r\n",
      "GET / 1.1 a none persistent"),
  ]

  static let bad = [
    // Lines
    Bad("bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n", .bareLineFeed),
    Bad("bare LF after a field", "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", .bareLineFeed),
    Bad("bare LF at the end", "GET / HTTP/1.1\r\nHost: a\r\n\n", .bareLineFeed),
    Bad("bare CR in the request line", "GET / HTTP/1.1\rX\r\nHost: a\r\n\r\n", .bareCarriageReturn),
    Bad("bare CR in a value", "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", .bareCarriageReturn),
    Bad("CR CR LF", "GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", .bareCarriageReturn),
    Bad("CR before the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\r\r\n\r\n", .bareCarriageReturn),
    Bad("empty line first", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .emptyStartLine),
    Bad("LF first", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .emptyStartLine),
    Bad("TLS ClientHello", "\u{16}\u{03}\u{01}\u{02}", .tlsHandshake),
    Bad("NUL first", "\0GET / HTTP/1.1\r\nHost: a\r\n\r\n", .notHTTP),
    Bad("space first", " GET / HTTP/1.1\r\nHost: a\r\n\r\n", .notHTTP),
    Bad("HTTP/2 with prior knowledge", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .http2Preface),
    // Request line
    Bad("no version", "GET /\r\nHost: a\r\n\r\n", .requestLine),
    Bad("method alone", "GET\r\n\r\n", .requestLine),
    Bad("empty target", "GET  HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Bad("two spaces after the method", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Bad("two spaces after the target", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Bad("space after the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .requestLine),
    Bad("space before the version is missing", "GET /HTTP/1.1\r\nHost: a\r\n\r\n", .requestLine),
    Bad("tab after the method", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n", .method),
    Bad("tab after the target", "GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Bad("space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", .version),
    Bad("non-token method", "G@T / HTTP/1.1\r\nHost: a\r\n\r\n", .method),
    Bad("control byte in the method", "G\u{01}T / HTTP/1.1\r\nHost: a\r\n\r\n", .method),
    Bad("long method", String(repeating: "M", count: 33) + " / HTTP/1.1\r\nHost: a\r\n\r\n", .method),
    Bad("fragment in the target", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Bad("NUL in the target", "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Bad("DEL in the target", "GET /a\u{7F} HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Bad("raw UTF-8 in the target", "GET /\u{C3}\u{A9} HTTP/1.1\r\nHost: a\r\n\r\n", .target),
    Bad("HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n", .version),
    Bad("HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", .version),
    Bad("HTTP/0.9", "GET / HTTP/0.9\r\nHost: a\r\n\r\n", .version),
    Bad("HTTP/1.10", "GET / HTTP/1.10\r\nHost: a\r\n\r\n", .version),
    Bad("HTTP/01.1", "GET / HTTP/01.1\r\nHost: a\r\n\r\n", .version),
    Bad("lower-case version", "GET / http/1.1\r\nHost: a\r\n\r\n", .version),
    Bad("short version", "GET / HTTP/1\r\nHost: a\r\n\r\n", .version),
    Bad("version alone", "GET / H\r\n\r\n", .version),
    Bad("other protocol", "GET / RTSP/1.0\r\nHost: a\r\n\r\n", .version),
    // Fields
    Bad("folded line", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", .foldedLine),
    Bad("folded by a tab", "GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n\tc\r\n\r\n", .foldedLine),
    Bad("space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", .foldedLine),
    Bad("space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n", .whitespaceBeforeColon),
    Bad("tab before the colon", "GET / HTTP/1.1\r\nContent-Length\t: 1\r\n\r\n", .whitespaceBeforeColon),
    Bad("no colon", "GET / HTTP/1.1\r\nHost: a\r\nX-Foo\r\n\r\n", .missingColon),
    Bad("empty name", "GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", .fieldName),
    Bad("non-token name", "GET / HTTP/1.1\r\nHost: a\r\nX(Y: b\r\n\r\n", .fieldName),
    Bad("control byte in a name", "GET / HTTP/1.1\r\nHost: a\r\nContent\u{0B}Length: 1\r\n\r\n", .fieldName),
    Bad(
      "control byte that folds to a hyphen", "GET / HTTP/1.1\r\nHost: a\r\nContent\rLength: 1\r\n\r\n",
      .bareCarriageReturn),
    Bad("raw UTF-8 in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\u{C3}\u{A9}: b\r\n\r\n", .fieldName),
    Bad("NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n", .fieldValue),
    Bad("ESC in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \u{1B}[31m\r\n\r\n", .fieldValue),
    Bad("DEL in a long value", "GET / HTTP/1.1\r\nHost: a\r\nX: 0123456789\u{7F}0123456789\r\n\r\n", .fieldValue),
    Bad("vertical tab before a value", "GET / HTTP/1.1\r\nHost:\u{0B}a\r\n\r\n", .fieldValue),
    Bad("Connection is not a list of tokens", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close; x\r\n\r\n", .connection),
    Bad("unknown expectation", "GET / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", .expectation),
    Bad(
      "Expect twice", "GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nExpect: 100-continue\r\n\r\n", .expectation),
    // Host
    Bad("no Host", "GET / HTTP/1.1\r\n\r\n", .hostMissing),
    Bad("two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", .hostRepeated),
    Bad("the same Host twice", "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", .hostRepeated),
    Bad("two Hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", .hostRepeated),
    Bad("empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", .hostInvalid),
    Bad("list in Host", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .hostInvalid),
    Bad("user information in Host", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", .hostInvalid),
    Bad("path in Host", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .hostInvalid),
    Bad("percent in Host", "GET / HTTP/1.1\r\nHost: a%2eb\r\n\r\n", .hostInvalid),
    Bad("port alone", "GET / HTTP/1.1\r\nHost: :80\r\n\r\n", .hostInvalid),
    Bad("empty port", "GET / HTTP/1.1\r\nHost: a:\r\n\r\n", .hostInvalid),
    Bad("port 0", "GET / HTTP/1.1\r\nHost: a:0\r\n\r\n", .hostInvalid),
    Bad("port 65536", "GET / HTTP/1.1\r\nHost: a:65536\r\n\r\n", .hostInvalid),
    Bad("port with a sign", "GET / HTTP/1.1\r\nHost: a:+80\r\n\r\n", .hostInvalid),
    Bad("two ports", "GET / HTTP/1.1\r\nHost: a:80:81\r\n\r\n", .hostInvalid),
    Bad("IPv6 without brackets", "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n", .hostInvalid),
    Bad("open bracket", "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n", .hostInvalid),
    Bad("bytes after the bracket", "GET / HTTP/1.1\r\nHost: [::1]a\r\n\r\n", .hostInvalid),
    Bad("invalid Host in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a b\r\n\r\n", .hostInvalid),
    // Framing
    Bad(
      "CL and TE", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
      .contentLengthWithTransferEncoding),
    Bad(
      "TE and CL", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
      .contentLengthWithTransferEncoding),
    Bad(
      "two CLs", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", .contentLengthRepeated),
    Bad(
      "two equal CLs", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n",
      .contentLengthRepeated),
    Bad("CL list", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n", .contentLengthRepeated),
    Bad("empty CL", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", .contentLength),
    Bad("signed CL", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\n", .contentLength),
    Bad("negative CL", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", .contentLength),
    Bad("hexadecimal CL", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\n", .contentLength),
    Bad("space in CL", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 2\r\n\r\n", .contentLength),
    Bad("fraction in CL", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1.0\r\n\r\n", .contentLength),
    Bad("CL 2^63", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n", .contentLengthTooLarge),
    Bad(
      "CL 2^64 + 3", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 18446744073709551619\r\n\r\n",
      .contentLengthTooLarge),
    Bad("TE identity", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", .transferEncoding),
    Bad(
      "TE gzip, chunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .transferEncoding),
    Bad(
      "TE chunked, identity", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
      .transferEncoding),
    Bad(
      "TE chunked, chunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
      .transferEncoding),
    Bad("TE xchunked", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", .transferEncoding),
    Bad(
      "TE with a parameter", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked;q=1\r\n\r\n", .transferEncoding),
    Bad("empty TE", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n\r\n", .transferEncoding),
    Bad("quoted TE", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \"chunked\"\r\n\r\n", .transferEncoding),
    Bad(
      "TE twice", "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      .transferEncoding),
    Bad(
      "TE in HTTP/1.0", "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncodingInHTTP10),
    // Bounds
    Bad(
      "too many fields", "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 100) + "\r\n",
      .tooManyFields),
    Bad(
      "long target", "GET /" + String(repeating: "a", count: 16_384) + " HTTP/1.1\r\nHost: a\r\n\r\n", .targetTooLong),
    Bad(
      "long head", "GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 32_768) + "\r\n\r\n",
      .headTooLarge),
  ]

  /// A cut in every place of a small head; of a large one, every 97th.
  static func cuts(_ count: Int) -> [Int] {
    Array(stride(from: 0, through: count, by: count > 2_000 ? 97 : 1))
  }

  @Test(arguments: bad)
  func `a bad head is refused for the same reason at every split`(_ sample: Bad) throws {
    let bytes = latin1(sample.head)
    #expect(request(bytes) == .failure(sample.violation))
    for cut in Self.cuts(bytes.count) { #expect(request(bytes, cuts: [cut]) == .failure(sample.violation)) }
    if bytes.count < 2_000 { #expect(request(bytes, cuts: Array(0...bytes.count)) == .failure(sample.violation)) }
  }

  @Test func `bounds hold exactly and only they count as too large`() throws {
    let limits = HeadLimits(headBytesMax: 60, fieldCountMax: 3, targetBytesMax: 8)
    let fits = "GET /1234567 HTTP/1.1\r\nHost: a\r\nB: b\r\nC: ccccccccccccccc\r\n\r\n"
    #expect(fits.utf8.count == 60)
    #expect(throws: Never.self) { try request(latin1(fits), limits: limits)?.get() }
    let oversized: [(String, HeadViolation)] = [
      (fits.replacing("ccc", with: "cccc", maxReplacements: 1), .headTooLarge),
      ("GET /12345678 HTTP/1.1\r\nHost: a\r\n\r\n", .targetTooLong),
      ("GET / HTTP/1.1\r\nHost: a\r\nB:\r\nC:\r\nD:\r\n\r\n", .tooManyFields),
    ]
    for (head, violation) in oversized {
      #expect(request(latin1(head), limits: limits) == .failure(violation))
      #expect(violation.tooLarge)
    }
    #expect(!HeadViolation.bareLineFeed.tooLarge)
  }

  @Test func `a table smaller than the limit refuses the head`() throws {
    let fields = FieldTable(capacity: 2)
    latin1("GET / HTTP/1.1\r\nHost: a\r\nB: b\r\nC: c\r\n\r\n").withUnsafeBytes { head in
      #expect(RequestHead.parse(head, limits: HeadLimits(), fields: fields).violation == .tooManyFields)
    }
  }

  @Test func `bytes that HeadBoundary would not pass are refused by the parser as well`() {
    let fields = FieldTable(capacity: 8)
    func violation(_ head: some Collection<UInt8>) -> HeadViolation? {
      Array(head).withUnsafeBytes {
        RequestHead.parse($0, limits: HeadLimits(), fields: fields).violation
      }
    }
    let good = latin1("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(violation(good) == nil)
    for end in 0..<good.count { #expect(violation(good.prefix(end)) != nil, "\(end)") }
    #expect(violation(good + latin1("x")) == .unterminated)
    #expect(violation(good + latin1("\r\n")) == .unterminated)
    #expect(violation(latin1("GET / HTTP/1.1\r\nHost: a\n\r\n\r\n")) == .bareLineFeed)
    #expect(violation(latin1("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n")) == .bareCarriageReturn)
    #expect(violation(latin1("GET / HTTP/1.1\r\nHost: a\r\n\rb\r\n")) == .bareCarriageReturn)
    #expect(violation(latin1("GET / HTTP/1.1\rHost: a\r\n\r\n")) == .bareCarriageReturn)
    #expect(violation(latin1("GET / HTTP/1.1\nHost: a\r\n\r\n")) == .bareLineFeed)
    #expect(violation(latin1("\r\n\r\n")) == .emptyStartLine)
    #expect(violation(latin1("")) == .unterminated)
  }

  @Test func `no byte is looked at twice`() {
    var scanned = 0
    latin1("GET / HTTP/1.1\r\nHost: localhost\r\n\r").withUnsafeBytes { bytes in
      #expect(HeadBoundary.find(bytes, scanned: &scanned) == .incomplete)
      #expect(scanned == bytes.count - 3)
    }
  }

  @Test func `every violation has a sentence of its own`() {
    let all: [HeadViolation] =
      Self.bad.map(\.violation) + [
        .unterminated, .targetForm, .targetPercentEncoding, .statusLine, .status, .hostMismatch, .contentNotAllowed,
      ]
    let details = Set(all.map { "\($0.detail)" })
    #expect(details.count == Set(all.map { "\($0)" }).count)
    #expect(details.allSatisfy { $0.hasSuffix(".") })
  }

  @Test(arguments: good)
  func `a good head is parsed the same at every split`(_ sample: Good) throws {
    let bytes = latin1(sample.head)
    let whole = try #require(request(bytes))
    #expect(try whole.get().summary == sample.summary)
    for cut in 0...bytes.count { #expect(request(bytes, cuts: [cut]) == whole) }
    #expect(request(bytes, cuts: Array(0...bytes.count)) == whole)
    for end in 0..<bytes.count { #expect(request(Array(bytes[..<end])) == nil) }
  }
}
