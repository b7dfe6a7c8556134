import HTTPWire
import Testing

struct ResponseHeadTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let name: String
    let head: String
    let isHEAD: Bool
    let expected: Expected
    var testDescription: String { name }

    enum Expected: Sendable {
      case summary(String)
      case violation(HeadViolation)
    }

    init(_ name: String, _ head: String, isHEAD: Bool = false, _ summary: String) {
      self.name = name
      self.head = head
      self.isHEAD = isHEAD
      expected = .summary(summary)
    }

    init(_ name: String, _ head: String, _ violation: HeadViolation) {
      self.name = name
      self.head = head
      isHEAD = false
      expected = .violation(violation)
    }
  }

  static let samples = [
    Sample("length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "1.1 200 'OK' length(5) persistent"),
    Sample("chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1.1 200 'OK' chunked persistent"),
    Sample("until close", "HTTP/1.1 200 OK\r\n\r\n", "1.1 200 'OK' untilClose "),
    Sample("close", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "1.1 200 'OK' length(0) "),
    Sample("HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", "1.0 200 'OK' length(5) "),
    Sample(
      "HTTP/1.0 keep-alive", "HTTP/1.0 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\n",
      "1.0 200 'OK' length(5) persistent"),
    Sample("HTTP/1.0 until close", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\n", "1.0 200 'OK' untilClose "),
    Sample("empty reason", "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "1.1 200 '' length(0) persistent"),
    Sample("no reason, no space", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "1.1 200 '' length(0) persistent"),
    Sample(
      "reason with spaces, a tab and UTF-8", "HTTP/1.1 404 Nicht  da\t\u{C3}\u{A9}\r\nContent-Length: 0\r\n\r\n",
      "1.1 404 'Nicht  da\t\u{E9}' length(0) persistent"),
    Sample("unknown status", "HTTP/1.1 599 ?\r\nContent-Length: 1\r\n\r\n", "1.1 599 '?' length(1) persistent"),
    Sample("100", "HTTP/1.1 100 Continue\r\n\r\n", "1.1 100 'Continue' none persistent"),
    Sample("103", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", "1.1 103 'Early Hints' none persistent"),
    Sample(
      "101", "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
      "1.1 101 'Switching' none persistent,upgrade"),
    Sample("204", "HTTP/1.1 204 No Content\r\n\r\n", "1.1 204 'No Content' none persistent"),
    Sample(
      "204 with CL 0", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n", "1.1 204 'No Content' none persistent"),
    Sample("304 with CL", "HTTP/1.1 304 N\r\nContent-Length: 9\r\n\r\n", "1.1 304 'N' none persistent"),
    Sample("304 with TE", "HTTP/1.1 304 N\r\nTransfer-Encoding: chunked\r\n\r\n", "1.1 304 'N' none persistent"),
    Sample(
      "HEAD with CL", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", isHEAD: true, "1.1 200 'OK' none persistent"),
    Sample(
      "HEAD with TE", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", isHEAD: true,
      "1.1 200 'OK' none persistent"),
    Sample("HEAD without either", "HTTP/1.1 200 OK\r\n\r\n", isHEAD: true, "1.1 200 'OK' none persistent"),

    Sample("204 with CL 5", "HTTP/1.1 204 N\r\nContent-Length: 5\r\n\r\n", .contentNotAllowed),
    Sample("204 with TE", "HTTP/1.1 204 N\r\nTransfer-Encoding: chunked\r\n\r\n", .contentNotAllowed),
    Sample("100 with CL 5", "HTTP/1.1 100 C\r\nContent-Length: 5\r\n\r\n", .contentNotAllowed),
    Sample("101 with TE", "HTTP/1.1 101 S\r\nTransfer-Encoding: chunked\r\n\r\n", .contentNotAllowed),
    Sample(
      "CL and TE", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
      .contentLengthWithTransferEncoding),
    Sample(
      "CL and TE in a 304", "HTTP/1.1 304 N\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
      .contentLengthWithTransferEncoding),
    Sample(
      "two equal CLs", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", .contentLengthRepeated),
    Sample("CL list", "HTTP/1.1 200 OK\r\nContent-Length: 5,5\r\n\r\n", .contentLengthRepeated),
    Sample("negative CL", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", .contentLength),
    Sample("TE gzip", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", .transferEncoding),
    Sample("TE in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", .transferEncodingInHTTP10),
    Sample("two digits", "HTTP/1.1 20 OK\r\n\r\n", .statusLine),
    Sample("four digits", "HTTP/1.1 2000 OK\r\n\r\n", .statusLine),
    Sample("hexadecimal status", "HTTP/1.1 0x2 OK\r\n\r\n", .statusLine),
    Sample("status 099", "HTTP/1.1 099 OK\r\n\r\n", .status),
    Sample("status 600", "HTTP/1.1 600 OK\r\n\r\n", .status),
    Sample("two spaces before the status", "HTTP/1.1  200 OK\r\n\r\n", .statusLine),
    Sample("no status", "HTTP/1.1\r\n\r\n", .statusLine),
    Sample("version and space", "HTTP/1.1 \r\n\r\n", .statusLine),
    Sample("tab before the status", "HTTP/1.1\t200 OK\r\n\r\n", .statusLine),
    Sample("tab after the status", "HTTP/1.1 200\tOK\r\n\r\n", .statusLine),
    Sample("control byte in the reason", "HTTP/1.1 200 O\u{1B}K\r\n\r\n", .statusLine),
    Sample("HTTP/2", "HTTP/2 200 OK\r\n\r\n", .version),
    Sample("HTTP/1.2", "HTTP/1.2 200 OK\r\n\r\n", .version),
    Sample("HTTP/1.10", "HTTP/1.10 200 OK\r\n\r\n", .statusLine),
    Sample("not HTTP", "SSH-2.0-OpenSSH\r\n\r\n", .notHTTP),
    Sample("ICY", "ICY 200 OK\r\n\r\n", .notHTTP),
    Sample("HTTP/0.9 answer", "<html>\r\n\r\n", .notHTTP),
    Sample("bare LF", "HTTP/1.1 200 OK\nContent-Length: 0\n\n", .bareLineFeed),
    Sample("bare LF behind the status", "HTTP/1.1 200\n\r\n\r\n", .bareLineFeed),
    Sample("bare CR in the reason", "HTTP/1.1 200 O\rK\r\n\r\n", .bareCarriageReturn),
    Sample("folded line", "HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\r\n", .foldedLine),
    Sample("space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n", .whitespaceBeforeColon),
    Sample("no colon", "HTTP/1.1 200 OK\r\nContent-Length\r\n\r\n", .missingColon),
    Sample("empty line first", "\r\nHTTP/1.1 200 OK\r\n\r\n", .emptyStartLine),
    Sample(
      "too many fields", "HTTP/1.1 200 OK\r\n" + String(repeating: "X: y\r\n", count: 101) + "\r\n", .tooManyFields),
  ]

  @Test(arguments: samples)
  func `a response head means the same at every split`(_ sample: Sample) throws {
    let bytes = latin1(sample.head)
    let whole = try #require(response(bytes, isHEAD: sample.isHEAD))
    switch sample.expected {
    case .summary(let summary): #expect(try whole.get().summary == summary)
    case .violation(let violation): #expect(whole == .failure(violation))
    }
    for cut in 0...bytes.count { #expect(response(bytes, cuts: [cut], isHEAD: sample.isHEAD) == whole) }
    #expect(response(bytes, cuts: Array(0...bytes.count), isHEAD: sample.isHEAD) == whole)
  }

  @Test func `a truncated head is refused by the parser and not read past its end`() {
    let fields = FieldTable(capacity: 8)
    let good = latin1("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    for end in 0..<good.count {
      Array(good[..<end]).withUnsafeBytes { head in
        let result = ResponseHead.parse(head, limits: HeadLimits(), fields: fields, requestMethodIsHEAD: false)
        #expect(result.violation != nil)
      }
    }
  }

  @Test func `the declared length is known where no content follows`() throws {
    let fields = FieldTable(capacity: 8)
    try latin1("HTTP/1.1 304 N\r\nContent-Length: 9\r\n\r\n").withUnsafeBytes { head in
      let parsed = try ResponseHead.parse(head, limits: HeadLimits(), fields: fields, requestMethodIsHEAD: false).get()
      #expect(parsed.framing == .none)
      #expect(parsed.declaredLength == 9)
      #expect(!parsed.isInterim)
    }
  }
}
