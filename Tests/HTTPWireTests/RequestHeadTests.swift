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
