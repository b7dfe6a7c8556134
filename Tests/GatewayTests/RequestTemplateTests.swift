import Cryptography
import HTTPWire
import Testing

@testable import Gateway

/// What goes upstream: path and query bytes exactly kept, fields cleaned, and the `htu` of the same URL
/// (RFC 9449 §4.2, RFC 9110 §7.6.1).
struct RequestTemplateTests {
  private struct Sent {
    var head = ""
    var htu = ""
    var fields: [String] { head.split(separator: "\r\n").dropFirst().map(String.init) }
    var requestLine: String { String(head.prefix { $0 != "\r\n" }) }
  }

  private func send(
    _ target: String, path: String = "/o", upstream: String = "https://api.example.com/v1", htuBase: String? = nil,
    decoded: Bool = false, passAuthorization: Bool = false, removed: [String] = [], injected: String? = nil,
    credentialQuery: String? = nil, method: String = "GET", fields: String = ""
  ) throws -> Sent {
    var definition = GatewayRoute.Definition(
      name: "o", path: path, upstream: try HTTPURL(parsing: upstream), endpoint: 0)
    definition.htuBase = try htuBase.map { try HTTPURL(parsing: $0) }
    definition.htuDecoded = decoded
    definition.passAuthorization = passAuthorization
    definition.removedFields = removed
    definition.injectedField = injected
    let route = GatewayRoute(definition, index: 0)
    let text = "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:9449\r\n\(fields)\r\n"
    let table = FieldTable(capacity: 100)
    var sent = Sent()
    try Array(text.utf8).withUnsafeBytes { bytes in
      let head = try RequestHead.parse(bytes, limits: HeadLimits(), fields: table).get()
      guard case .origin(let path, let query) = try RequestTarget.parse(bytes, of: head).get() else {
        Issue.record("not an origin-form target")
        return
      }
      var template = RequestTemplate()
      template.note(method: bytes[head.method], target: bytes[head.target], pool: BlockPool())
      template.build(
        head, in: bytes, fields: table, path: path, query: query,
        strippedBytes: try #require(route.matchedBytes(of: bytes[path])), route: route, withProofTarget: true)
      var output = ByteBuffer()
      template.append(to: &output, credentialQuery: credentialQuery.map { Secret(utf8: $0) })
      sent.head = output.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      sent.htu = template.withProofTarget { _, htu in String(decoding: htu, as: UTF8.self) }
    }
    return sent
  }

  @Test(arguments: [
    ("/o", "/v1", "https://api.example.com/v1"),
    ("/o/", "/v1/", "https://api.example.com/v1/"),
    ("/o/credential", "/v1/credential", "https://api.example.com/v1/credential"),
    ("/o/credential/", "/v1/credential/", "https://api.example.com/v1/credential/"),
    ("/o/a%2Fb", "/v1/a%2Fb", "https://api.example.com/v1/a%2Fb"),
    ("/o/a%2fb", "/v1/a%2fb", "https://api.example.com/v1/a%2fb"),
    ("/o//x", "/v1//x", "https://api.example.com/v1//x"),
    ("/o/x?a=1&b=%23", "/v1/x?a=1&b=%23", "https://api.example.com/v1/x"),
    ("/o?a", "/v1?a", "https://api.example.com/v1"),
    ("/o?", "/v1?", "https://api.example.com/v1"),
    ("/o/~x;v=1,2!$&'()*+=:@", "/v1/~x;v=1,2!$&'()*+=:@", "https://api.example.com/v1/~x;v=1,2!$&'()*+=:@"),
  ])
  func `C31 C40 C41 path and query bytes are kept, and htu is the URL sent without its query`(
    target: String, wire: String, htu: String
  ) throws {
    let sent = try send(target)
    #expect(sent.requestLine == "GET \(wire) HTTP/1.1")
    #expect(sent.htu == htu)
  }

  @Test(arguments: [
    ("https://api.example.com/", "/o", "/"), ("https://api.example.com", "/o/x", "/x"),
    ("https://api.example.com/v1/", "/o", "/v1/"), ("https://api.example.com/v1/", "/o/x", "/v1/x"),
    ("https://API.Example.com:443/v1", "/o/x", "/v1/x"), ("http://127.0.0.1:80/", "/o/x", "/x"),
  ])
  func `base paths join with one slash`(upstream: String, target: String, wire: String) throws {
    #expect(try send(target, upstream: upstream).requestLine == "GET \(wire) HTTP/1.1")
  }

  @Test func `Host and htu carry the canonical authority`() throws {
    let sent = try send("/o/x", upstream: "https://API.Example.com:443/v1")
    #expect(sent.fields.first == "Host: api.example.com")
    #expect(sent.htu == "https://api.example.com/v1/x")
    #expect(try send("/o/x", upstream: "https://api.example.com:8443/").fields.first == "Host: api.example.com:8443")
    #expect(try send("/o/x", upstream: "https://[::1]:8443/").htu == "https://[::1]:8443/x")
  }

  @Test func `C36 htu_base replaces origin and base path in the claim only`() throws {
    let sent = try send("/o/x?q", htuBase: "https://inside.example:8443/root/")
    #expect(sent.htu == "https://inside.example:8443/root/x")
    #expect(sent.requestLine == "GET /v1/x?q HTTP/1.1")
    #expect(try send("/o", htuBase: "https://inside.example/root").htu == "https://inside.example/root")
  }

  @Test func `htu_path decoded decodes in the claim only`() throws {
    let sent = try send("/o/a%2Fb%20c", decoded: true)
    #expect(sent.htu == "https://api.example.com/v1/a/b c")
    #expect(sent.requestLine == "GET /v1/a%2Fb%20c HTTP/1.1")
  }

  @Test func `C76 hop-by-hop, forwarding and authentication fields stay behind`() throws {
    let fields =
      [
        "Connection: keep-alive, X-Hop", "X-Hop: 1", "Keep-Alive: 5", "TE: gzip", "Trailer: x",
        "Proxy-Authorization: Basic x", "Proxy-Connection: keep-alive", "Forwarded: for=1", "X-Forwarded-For: 1",
        "X-Forwarded-Proto: https", "X-Original-URL: /admin", "X-Rewrite-URL: /admin", "DPoP: eyJ", "DPoP-Nonce: n",
        "Authorization: Bearer app", "Proofd-Error: x", "Expect: 100-continue", "X-Kept: a", "x-kept: b", "Cookie: c=1",
      ].joined(separator: "\r\n") + "\r\n"
    #expect(
      try send("/o", fields: fields).fields == ["Host: api.example.com", "X-Kept: a", "x-kept: b", "Cookie: c=1"])
  }

  @Test func `a client that takes trailers, and trailers that will come, are announced`() throws {
    #expect(
      try send("/o", fields: "TE: gzip;q=0.5, Trailers\r\nConnection: TE\r\n").fields
        == ["Host: api.example.com", "TE: trailers", "Connection: TE"])
    let chunked = "Transfer-Encoding: chunked\r\n"
    #expect(
      try send("/o", fields: "Trailer: X-Sum, Authorization, x-other,Host\r\n\(chunked)").fields
        == ["Host: api.example.com", "Trailer: X-Sum, x-other", "Transfer-Encoding: chunked"])
    for dropped in ["Trailer: Host\r\n", "Trailer: X-Sum\r\nConnection: trailer\r\n"] {
      #expect(
        try send("/o", fields: dropped + chunked).fields == ["Host: api.example.com", "Transfer-Encoding: chunked"])
    }
  }

  @Test func `C77 configured fields are removed, and nobody else sets the credential's own`() throws {
    let fields = "Cookie: c=1\r\nX-API-Key: mine\r\nX-Other: 1\r\n"
    #expect(
      try send("/o", removed: ["cookie"], injected: "X-Api-Key", fields: fields).fields
        == ["Host: api.example.com", "X-Other: 1"])
  }

  /// CGI and WSGI read both spellings as one variable. RFC 3875 §4.1.18
  @Test(arguments: [
    "X_Forwarded_For", "x_forwarded-proto", "X-Forwarded_Host", "X.Forwarded.For", "DPoP_Nonce", "Proxy_Authorization",
    "Content_Length", "Transfer_Encoding", "Keep_Alive", "Proofd_Error", "X_Original_URL", "X_Rewrite-URL", "X_API_Key",
    "X_Secret_Name", "X-Secret-Name",
  ])
  func `a field that is removed is removed with other bytes for its hyphens, too`(name: String) throws {
    let fields = "X_Kept: a\r\n\(name): 1\r\nX-Kept_1: b\r\n"
    #expect(
      try send("/o", removed: ["x_secret-name"], injected: "X-Api_Key", fields: fields).fields
        == ["Host: api.example.com", "X_Kept: a", "X-Kept_1: b"])
  }

  @Test func `a trailer that is not to pass is not announced in another spelling either`() throws {
    let fields = "Trailer: X_Forwarded_For, X_Sum, Content_Type, x.secret\r\nTransfer-Encoding: chunked\r\n"
    #expect(
      try send("/o", removed: ["x-secret"], fields: fields).fields
        == ["Host: api.example.com", "Trailer: X_Sum", "Transfer-Encoding: chunked"])
  }

  @Test func `the caller's Authorization passes only where the route says so`() throws {
    #expect(
      try send("/o", passAuthorization: true, fields: "Authorization: Bearer app\r\n").fields.last
        == "Authorization: Bearer app")
  }

  @Test func `a credential's query parameter is added behind the caller's`() throws {
    #expect(try send("/o", credentialQuery: "key=k").requestLine == "GET /v1?key=k HTTP/1.1")
    #expect(try send("/o?a=1", credentialQuery: "key=k").requestLine == "GET /v1?a=1&key=k HTTP/1.1")
  }

  @Test(arguments: [("Content-Length: 0", "Content-Length: 0"), ("Content-Length: 12", "Content-Length: 12")])
  func `the framing is written anew`(given: String, written: String) throws {
    #expect(try send("/o", method: "POST", fields: given + "\r\n").fields.last == written)
  }

  @Test func `a chunked body stays chunked`() throws {
    #expect(
      try send("/o", method: "POST", fields: "Transfer-Encoding: chunked\r\n").fields.last
        == "Transfer-Encoding: chunked")
  }

  @Test(arguments: ["PATCH", "QUERY", "purge", "X-CUSTOM"])
  func `A1.6 methods are sent as they came`(method: String) throws {
    #expect(try send("/o", method: method).requestLine == "\(method) /v1 HTTP/1.1")
  }
}
