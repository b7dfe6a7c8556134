import HTTPWire
import Testing

struct RequestTargetTests {
  /// The target in words, or the violation.
  private func target(_ line: String, host: String = "a") -> String {
    let fields = FieldTable(capacity: 8)
    return latin1("\(line) HTTP/1.1\r\nHost: \(host)\r\n\r\n").withUnsafeBytes { head in
      func query(_ range: ByteRange?) -> String { range.map { "?" + text(head[$0]) } ?? "" }
      do throws(HeadViolation) {
        let request = try RequestHead.parse(head, limits: HeadLimits(), fields: fields).get()
        return switch try RequestTarget.parse(head, of: request).get() {
        case .origin(let path, let rest): "origin \(text(head[path]))\(query(rest))"
        case .absolute(let scheme, let authority, let path, let rest):
          "absolute \(text(head[scheme])) \(text(head[authority])) \(text(head[path]))\(query(rest))"
        case .authority(let range): "authority \(text(head[range]))"
        case .asterisk: "asterisk"
        }
      } catch {
        return "\(error)"
      }
    }
  }

  @Test(arguments: [
    ("GET /", "origin /"),
    ("GET /a/b?c=d?e", "origin /a/b?c=d?e"),
    ("GET /a?", "origin /a?"),
    ("GET //a//b/", "origin //a//b/"),
    ("GET /a%2Fb%7e|{}\"<>\\^`", "origin /a%2Fb%7e|{}\"<>\\^`"),
    ("GET /?q=100%&r=%zz", "origin /?q=100%&r=%zz"),
    ("GET http://a/b?c", "absolute http a /b?c"),
    ("GET HTTP://A", "absolute HTTP A "),
    ("GET https://a?q", "absolute https a ?q"),
    ("OPTIONS *", "asterisk"),
    ("OPTIONS /x", "origin /x"),
    ("CONNECT a:443", "authority a:443"),
    ("CONNECT [::1]:443", "authority [::1]:443"),
  ])
  func `targets are taken apart without changing a byte`(_ line: String, _ expected: String) {
    #expect(target(line) == expected)
  }

  @Test(arguments: [
    ("GET *", "targetForm"),
    ("GET a", "targetForm"),
    ("GET a:443", "targetForm"),
    ("GET ?q", "targetForm"),
    ("GET http:/a", "targetForm"),
    ("GET http://", "targetForm"),
    ("GET http:///x", "targetForm"),
    ("GET http://u@a/", "targetForm"),
    ("GET http://u:p@a/", "targetForm"),
    ("GET http://a:x/", "targetForm"),
    ("GET 1http://a/", "targetForm"),
    ("GET ://a/", "targetForm"),
    ("OPTIONS *x", "targetForm"),
    ("options *", "targetForm"),
    ("CONNECT /", "targetForm"),
    ("CONNECT http://a/", "targetForm"),
    ("GET http://b/", "hostMismatch"),
    ("GET http://a:80/", "hostMismatch"),
    ("GET /%", "targetPercentEncoding"),
    ("GET /a%2", "targetPercentEncoding"),
    ("GET /a%2?b", "targetPercentEncoding"),
    ("GET /a%g0", "targetPercentEncoding"),
    ("GET /a%0g", "targetPercentEncoding"),
    ("GET /%%32e", "targetPercentEncoding"),
    ("GET http://a/%u002e", "targetPercentEncoding"),
  ])
  func `targets that do not fit are refused`(_ line: String, _ violation: String) {
    #expect(target(line) == violation)
  }

  @Test func `an absolute target may differ from Host in case only`() {
    #expect(target("GET http://EXAMPLE.com:81/x", host: "example.COM:81") == "absolute http EXAMPLE.com:81 /x")
  }

  @Test(arguments: [
    "/..", "/.", "/../a", "/a/../b", "/a/./b", "/a/..", "/a/.", "/%2e%2E/", "/.%2e/", "/%2E", "/a/%2e%2e",
    "/a/..%2fb", "/a%2F..%2Fb", "/a\\..\\b", "/a%5c..%5Cb", "/..;/a", "/a/..;x=y", "/a/%2e%2e%3b/b", "..", ".",
  ])
  func `dot segments are found however they are written`(_ path: String) {
    #expect(latin1(path).withUnsafeBytes { DotSegments.isPresent(in: $0) })
  }

  @Test(arguments: [
    "", "/", "//", "/a", "/...", "/a..", "/..a", "/a.b", "/.well-known/x", "/a/..b/", "/a;..", "/%2e%2e%2e", "/..%20",
    "/a.;x", "/v1.2/", "/%2", "/%", "/a%2e%2", "/;.",
  ])
  func `other dots are not dot segments`(_ path: String) {
    #expect(!latin1(path).withUnsafeBytes { DotSegments.isPresent(in: $0) })
  }
}
