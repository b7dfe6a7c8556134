import HTTPWire
import Testing

struct ControlPlaneValueTests {
  @Test func `a message prints none of its values`() throws {
    let url = try HTTPURL(parsing: "https://a/token?code=sekret")
    let request = HTTPRequest(
      method: "POST", url: url, fields: [HTTPField(name: "Authorization", value: "Basic sekret")],
      body: latin1("sekret"))
    let response = HTTPResponse(
      status: 200, fields: [HTTPField(name: "Set-Cookie", value: "sekret")], body: latin1("sekret"))
    var dumped = ""
    dump(request, to: &dumped)
    dump(response, to: &dumped)
    for text in [
      "\(request)", "\(response)", "\(request.fields)", String(reflecting: request), String(reflecting: response),
      dumped,
    ] {
      #expect(!text.contains("sekret"))
      #expect(!text.contains("115, 101"))
    }
    #expect("\(request)" == "POST https://a/token")
  }

  @Test func `fields are found in any case`() {
    let response = HTTPResponse(
      status: 200,
      fields: [
        HTTPField(name: "DPoP-Nonce", value: "1"), HTTPField(name: "dpop-nonce", value: "2"),
        HTTPField(name: "date", value: "x"),
      ])
    #expect(response.values(of: "DPOP-NONCE") == ["1", "2"])
    #expect(response.onlyValue(of: "DPoP-Nonce") == nil)
    #expect(response.onlyValue(of: "Date") == "x")
    #expect(response.onlyValue(of: "Age") == nil)
  }

  @Test func `a form is encoded as RFC 6749 Appendix B shows`() {
    #expect(FormURLEncoded.encode([("k", " %&+\u{A3}\u{20AC}")]) == latin1("k=+%25%26%2B%C2%A3%E2%82%AC"))
    #expect(
      FormURLEncoded.encode([("grant_type", "client_credentials"), ("scope", "a b"), ("scope", ""), ("x.y-z_*", "~")])
        == latin1("grant_type=client_credentials&scope=a+b&scope=&x.y-z_*=%7E"))
    #expect(FormURLEncoded.encode([]) == [])
    #expect(FormURLEncoded.encode("a:b") == "a%3Ab")
  }

  @Test func `a form reads back as it was`() throws {
    let pairs = [("a", "b=c&d"), ("", ""), ("\u{20AC} +%", "\r\n\0"), ("a", "again")]
    let decoded = try #require(FormURLEncoded.decode(FormURLEncoded.encode(pairs)))
    #expect(decoded.map { [$0.0, $0.1] } == pairs.map { [$0.0, $0.1] })
    #expect(
      FormURLEncoded.decode(latin1("a&b=&&=c&d=e=f"))?.map { [$0.0, $0.1] } == [
        ["a", ""], ["b", ""], ["", "c"], ["d", "e=f"],
      ])
  }

  @Test func `a broken form is refused`() {
    for form in ["a=%", "a=%2", "a=%zz", "%=b", "a=%FF", "a=\u{FF}"] {
      #expect(FormURLEncoded.decode(latin1(form)) == nil)
    }
    let many = latin1(String(repeating: "a=b&", count: FormURLEncoded.pairsMax + 1))
    #expect(FormURLEncoded.decode(many) == nil)
  }

  @Test func `percent-encoding leaves unreserved bytes alone`() {
    #expect(PercentEncoding.encode("aZ09-._~") == "aZ09-._~")
    #expect(PercentEncoding.encode("a/b?c d+\u{20AC}") == "a%2Fb%3Fc%20d%2B%E2%82%AC")
    #expect(PercentEncoding.decode("a%2fb%2Fc+%E2%82%AC") == Array("a/b/c+\u{20AC}".utf8))
    for bad in ["%", "%2", "a%", "%g0", "%0g", "%%30"] { #expect(PercentEncoding.decode(bad) == nil) }
    let all = (0...255).map { UInt8($0) }
    #expect(PercentEncoding.decode(PercentEncoding.encode(bytes: all)) == all)
  }
}

struct HTTPDateTests {
  /// 2026-11-30T00:00:00Z
  let now: Int64 = 1_795_996_800

  private func written(_ seconds: Int64) -> String {
    var out = ByteBuffer()
    HTTPDate.append(unixSeconds: seconds, to: &out)
    return String(decoding: out.copy(), as: UTF8.self)
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func `the three forms of RFC 9110 §5_6_7 are one moment`(_ text: String) {
    #expect(HTTPDate.parse(text, nowUnixSeconds: now) == 784_111_777)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
  ])
  func `a moment is written and read back`(_ seconds: Int64, _ text: String) {
    #expect(written(seconds) == text)
    #expect(HTTPDate.parse(text, nowUnixSeconds: now) == seconds)
  }

  @Test func `every day of eight centuries is written and read back`() {
    for day in stride(from: Int64(-135_000), through: 157_000, by: 1) {
      let seconds = day * 86_400 + 43_261
      #expect(HTTPDate.parse(written(seconds), nowUnixSeconds: now) == seconds)
    }
  }

  @Test func `a two-digit year is at most 50 years ahead`() {
    let year2026 = HTTPDate.parse("Monday, 30-Nov-26 00:00:00 GMT", nowUnixSeconds: now)
    #expect(year2026 == now)
    #expect(
      HTTPDate.parse("Monday, 30-Nov-76 00:00:00 GMT", nowUnixSeconds: now).map(written)?.contains("2076") == true)
    #expect(
      HTTPDate.parse("Monday, 30-Nov-77 00:00:00 GMT", nowUnixSeconds: now).map(written)?.contains("1977") == true)
  }

  @Test(arguments: [
    "", "now", "0", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
    "Sun 06 Nov 1994 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
    "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 +8:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
    "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun Nov  6 08:49:37 94", "1994-11-06T08:49:37Z",
    "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
  ])
  func `what is not a date is refused`(_ text: String) {
    #expect(HTTPDate.parse(text, nowUnixSeconds: now) == nil)
  }
}
