import HTTPWire
import Testing

struct HTTPURLTests {
  /// RFC 3986 §6.2.2, §6.2.3; what an `htu` and a request line are made of (RFC 9449 §4.3).
  @Test(arguments: [
    ("https://api.example.com/v1/orders", "https://api.example.com/v1/orders"),
    ("HTTPS://API.Example.COM/V1", "https://api.example.com/V1"),
    ("https://api.example.com:443/a", "https://api.example.com/a"),
    ("http://api.example.com:80/a", "http://api.example.com/a"),
    ("https://api.example.com:80/a", "https://api.example.com:80/a"),
    ("http://api.example.com:443/a", "http://api.example.com:443/a"),
    ("https://api.example.com:0443/a", "https://api.example.com/a"),
    ("https://api.example.com", "https://api.example.com/"),
    ("https://api.example.com?x=y", "https://api.example.com/?x=y"),
    ("https://api.example.com/?", "https://api.example.com/?"),
    ("https://api.example.com/a/", "https://api.example.com/a/"),
    ("https://api.example.com//api//x//", "https://api.example.com//api//x//"),
    ("https://api.example.com/a%2Fb%2fc%7Ed~", "https://api.example.com/a%2Fb%2fc%7Ed~"),
    ("https://api.example.com/a/../b/./c", "https://api.example.com/a/../b/./c"),
    ("https://api.example.com/a;b=c:@!$&'()*+,=-._~", "https://api.example.com/a;b=c:@!$&'()*+,=-._~"),
    ("https://api.example.com/a?b?c/d:@", "https://api.example.com/a?b?c/d:@"),
    ("https://[2001:DB8::1]:8443/", "https://[2001:db8::1]:8443/"),
    ("http://[::1]:80/x", "http://[::1]/x"),
    ("http://[0:0:0:0:0:0:0:1]", "http://[::1]/"),
    ("http://[::]/", "http://[::]/"),
    ("http://[1::]/", "http://[1::]/"),
    ("http://[1:0:0:2:0:0:0:3]/", "http://[1:0:0:2::3]/"),
    ("http://[1:0:0:2:0:0:3:4]/", "http://[1::2:0:0:3:4]/"),
    ("http://[1:0:2:3:4:5:6:7]/", "http://[1:0:2:3:4:5:6:7]/"),
    ("http://[1:2:3:4:5:6:7::]/", "http://[1:2:3:4:5:6:7:0]/"),
    ("http://[::FFFF:127.0.0.1]/", "http://[::ffff:127.0.0.1]/"),
    ("http://[64:ff9b::192.0.2.33]/", "http://[64:ff9b::c000:221]/"),
    ("http://127.0.0.1:9449/orders", "http://127.0.0.1:9449/orders"),
    ("http://localhost", "http://localhost/"),
    ("http://my_host.example.", "http://my_host.example./"),
    ("http://1.example/", "http://1.example/"),
    ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
  ])
  func `a URL has one canonical form and keeps its path bytes`(_ text: String, _ canonical: String) throws {
    let url = try HTTPURL(parsing: text)
    #expect(url.absoluteString == canonical)
    #expect(try HTTPURL(parsing: canonical) == url)
    #expect(url.description == canonical.prefix { $0 != "?" })
  }

  @Test(
    arguments: [
      ("", .scheme), ("/a", .scheme), ("api.example.com", .scheme), ("ftp://a/", .scheme), ("ws://a/", .scheme),
      (" https://a/", .scheme), ("localhost:80/", .scheme),
      ("https:/a", .authority), ("https:a", .authority), ("https:\\\\a\\", .authority),
      ("https://u@a/", .userInformation), ("https://u:p@a/", .userInformation), ("https://a@", .userInformation),
      ("https://", .host), ("https:///a", .host), ("https://:80/", .host), ("https://a b/", .host),
      ("https://a\\b/", .host), ("https://a%2eb/", .host), ("https://b\u{FC}cher.example/", .host),
      ("https://a..b/", .host), ("https://.a/", .host), ("https://./", .host), ("https://a,b/", .host),
      ("https://\(String(repeating: "a", count: 64)).example/", .host),
      ("https://127.1/", .host), ("https://0x7f.0.0.1/", .host), ("https://127.0.0.0x1/", .host),
      ("https://2130706433/", .host), ("https://127.0.0.01/", .host), ("https://1.2.3.256/", .host),
      ("https://1.2.3.4./", .host), ("https://0x/", .host),
      ("https://[::1/", .host), ("https://::1/", .port), ("https://[::1]a/", .host), ("https://[]/", .host),
      ("https://[::1%25eth0]/", .host), ("https://[1:2:3]/", .host), ("https://[1:2:3:4:5:6:7:8:9]/", .host),
      ("https://[1::2::3]/", .host), ("https://[12345::]/", .host), ("https://[:1:2:3:4:5:6:7]/", .host),
      ("https://[1:2:3:4:5:6:7:]/", .host), ("https://[::1.2.3]/", .host), ("https://[::1.2.3.256]/", .host),
      ("https://[1.2.3.4::]/", .host), ("https://[1:2:3:4:5:6:7:1.2.3.4]/", .host), ("https://[:::]/", .host),
      ("https://[1:2:3:4:5:6:7:8::]/", .host), ("https://[::1:2:3:4:5:6:7:8]/", .host), ("https://[:]/", .host),
      ("https://a:/", .port), ("https://a:0/", .port), ("https://a:65536/", .port), ("https://a:+80/", .port),
      ("https://a:80:80/", .port), ("https://a:8O/", .port), ("https://a:000080/", .port), ("https://[::1]:/", .port),
      ("https://a/b c", .path), ("https://a/%", .path), ("https://a/%2", .path), ("https://a/%zz", .path),
      ("https://a/\u{E9}", .path), ("https://a/b\r\nc", .path), ("https://a/b\\c", .path), ("https://a/\0", .path),
      ("https://a/{x}", .path), ("https://a/\"", .path),
      ("https://a/?b c", .query), ("https://a/?%", .query), ("https://a/?<", .query),
      ("https://a/#x", .fragment), ("https://a#", .fragment), ("https://a/?q#", .fragment),
      ("https://a/\(String(repeating: "b", count: 8_192))", .tooLong),
    ] as [(String, URLViolation)])
  func `what is not a URL proofd uses is refused`(_ text: String, _ violation: URLViolation) {
    #expect(throws: violation) { try HTTPURL(parsing: text) }
  }

  @Test func `the parts of a URL are those of the request`() throws {
    let url = try HTTPURL(parsing: "https://API.example.com:8443/v1/a%20b?c=d%26")
    #expect(url.scheme == .https)
    #expect(url.host == "api.example.com")
    #expect(url.port == 8_443)
    #expect(url.path == "/v1/a%20b")
    #expect(url.query == "c=d%26")
    #expect(url.authority == "api.example.com:8443")
    #expect(url.requestTarget == "/v1/a%20b?c=d%26")
    #expect("\(url)" == "https://api.example.com:8443/v1/a%20b")
    let address = try HTTPURL(parsing: "https://[::1]")
    #expect(address.host == "::1")
    #expect(address.authority == "[::1]")
    #expect(address.port == 443)
  }

  @Test func `another path on the same origin`() throws {
    let url = try HTTPURL(parsing: "https://a:81/x?y")
    let other = try url.replacing(pathAndQuery: "/.well-known/z?q")
    #expect(other.absoluteString == "https://a:81/.well-known/z?q")
    #expect(try url.replacing(pathAndQuery: "").absoluteString == "https://a:81/")
    #expect(throws: URLViolation.path) { try url.replacing(pathAndQuery: "@b/") }
    #expect(throws: URLViolation.path) { try url.replacing(pathAndQuery: "?q") }
    #expect(throws: URLViolation.fragment) { try url.replacing(pathAndQuery: "/#") }
    let long = "/" + String(repeating: "a", count: 8_192)
    #expect(throws: URLViolation.tooLong) { try url.replacing(pathAndQuery: long) }
  }

  @Test func `an origin is compared in canonical form`() throws {
    let origin = try Origin(parsing: "HTTPS://Example.com:443")
    #expect("\(origin)" == "https://example.com")
    #expect(try origin == HTTPURL(parsing: "https://example.com/x?y").origin)
    #expect(try origin != Origin(parsing: "http://example.com"))
    #expect(try origin != Origin(parsing: "https://example.com:8443"))
    #expect(try Origin(parsing: "http://[::1]:9449").description == "http://[::1]:9449")
  }

  @Test(arguments: ["null", "", "https://a/", "https://a/x", "https://a?", "https://a?x", "https://a#", "a", "file://"])
  func `what is not an origin is refused`(_ text: String) {
    #expect(throws: URLViolation.self) { try Origin(parsing: text) }
  }

  @Test(arguments: [
    ("http://localhost", true), ("http://LOCALHOST:1", true), ("http://orders.localhost:9449", true),
    ("http://localhost.", true), ("http://127.0.0.1", true), ("http://127.255.0.9", true), ("http://[::1]", true),
    ("http://[::ffff:127.0.0.1]", true),
    ("http://localhost.example", false), ("http://notlocalhost", false), ("http://127.0.0.1.example", false),
    ("http://128.0.0.1", false), ("http://[::2]", false), ("http://0.0.0.0", false), ("http://127.example", false),
  ])
  func `loopback is what can only be this machine`(_ text: String, _ isLoopback: Bool) throws {
    #expect(try Origin(parsing: text).isLoopback == isLoopback)
  }
}
