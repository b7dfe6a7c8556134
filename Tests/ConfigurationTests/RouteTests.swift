import Configuration
import HTTPWire
import Testing

@Suite struct `A route` {
  private func read(_ lines: String) throws -> RouteConfiguration {
    try #require(try configuration(route(lines)).routes.last)
  }

  @Test func `has defaults`() throws {
    let upstream = try HTTPURL(parsing: "https://api.example/v1")
    #expect(
      try read("upstream: https://api.example/v1") == RouteConfiguration(name: "r", path: nil, upstream: upstream))
  }

  @Test func `takes all its keys`() throws {
    let value = try read(
      """
      path: /r/s
      upstream: https://api.example/v1
      credential: c
      audience: https://api.example/
      scope: [a, b]
      resource: urn:r
      parameters: {p: q}
      methods: [GET, QUERY, get-it]
      remove_headers: [Cookie, X-Debug]
      htu_base: http://inside.example/base
      htu_path: decoded
      tls: {ca: ca.pem, server_name: Inner.Example}
      replay_limit: 2MiB
      token_timeout: 1s
      timeouts: {connect: 2s, response: 3s}
      """)
    #expect(value.path == "/r/s")
    #expect(
      value.credential
        == RouteCredential(
          name: "c",
          target: TokenTarget(
            audience: "https://api.example/", scope: ["a", "b"], resource: ["urn:r"],
            parameters: [TokenParameter(name: "p", value: "q")])))
    #expect(value.methods == ["GET", "QUERY", "get-it"])
    #expect(value.removeHeaders == ["cookie", "x-debug"])
    #expect(value.htuBase?.host == "inside.example")
    #expect(value.htuPath == .decoded)
    #expect(value.tls == UpstreamTLS(certificateAuthorityFile: "/etc/proofd/ca.pem", serverName: "inner.example"))
    #expect(value.replayLimitBytes == 2 << 20)
    #expect(value.timeouts.token == .seconds(1))
    #expect(value.timeouts.connect == .seconds(2))
    #expect(value.timeouts.response == .seconds(3))
  }

  @Test func `asks for what its credential asks for, unless it says otherwise`() throws {
    let text = """
      credentials:
        c: {provider: oidc, issuer: "https://id.example", grant: client_credentials, client_id: x, audience: A, scope: s,
            resource: "urn:a", parameters: {p: 1, q: 2}}
      routes:
        same: {path: /a, upstream: "https://api.example", credential: c}
        other: {path: /b, upstream: "https://api.example", credential: c, scope: t, parameters: {q: 3, r: 4}}
        none: {path: /c, upstream: "https://api.example", credential: c, scope: [], resource: []}
      """
    let targets = try configuration(text).routes.map(\.credential?.target)
    let (p, q) = (TokenParameter(name: "p", value: "1"), TokenParameter(name: "q", value: "2"))
    let (q3, r) = (TokenParameter(name: "q", value: "3"), TokenParameter(name: "r", value: "4"))
    #expect(
      targets == [
        TokenTarget(audience: "A", scope: ["s"], resource: ["urn:a"], parameters: [p, q]),
        TokenTarget(audience: "A", scope: ["t"], resource: ["urn:a"], parameters: [p, q3, r]),
        TokenTarget(audience: "A", scope: [], resource: [], parameters: [p, q]),
      ])
  }

  @Test(arguments: ["a", "orders", "a-1", "0", String(repeating: "a", count: 63)])
  func `has a name that can be a host's label`(_ name: String) throws {
    #expect(try configuration("routes: {\(name): {upstream: \"https://a.example\"}}").routes.first?.name == name)
  }

  @Test(arguments: [
    ("Orders", #"; did you mean "orders"?"#), ("a_b", ""), ("-a", ""), ("a-", ""), ("a.b", ""), ("é", ""), ("\"\"", ""),
    (String(repeating: "a", count: 64), ""),
  ])
  func `has no other name`(_ name: String, _ hint: String) {
    let shown = name == "\"\"" ? "" : name
    #expect(
      problems("routes: {\(name): {upstream: \"https://a.example\"}}") == [
        "1:10: error: routes.\(shown): a route's name becomes NAME.localhost: lower-case letters, digits and inner hyphens, 63 at most\(hint)"
      ])
  }

  @Test(arguments: ["/", "/a", "/a/b", "/a.b/...", "/~x/!$&'()*+,;=:@-_"])
  func `has a path of whole segments`(_ path: String) throws {
    #expect(try read("path: \"\(path)\"\nupstream: https://a.example").path == path)
  }

  @Test(arguments: [
    ("a", "must begin with /"), ("/a/", "must not end with /: the prefix is matched by whole segments"),
    ("//", "must not end with /: the prefix is matched by whole segments"),
    ("//a", "must not have an empty segment"), ("/a//b", "must not have an empty segment"),
    ("/.", "must not have . or .. as a segment"), ("/a/../b", "must not have . or .. as a segment"),
    ("/a%20b", "must not be percent-encoded: prefixes are compared byte by byte"),
    ("/a b", "has a character that can't stand in a path"), ("/a?b", "has a character that can't stand in a path"),
    ("/a#b", "has a character that can't stand in a path"), ("/é", "has a character that can't stand in a path"),
    ("/a\\\\b", "has a character that can't stand in a path"),
  ])
  func `has a path with one spelling`(_ path: String, _ message: String) {
    #expect(
      problems(route("path: \"\(path)\"\nupstream: https://a.example")) == ["10:11: error: routes.r.path: \(message)"])
  }

  private static let insecure = "must be https; plain http is for loopback hosts, or with allow_insecure: true"
  private static let clear = "plain http: what is sent there, credentials included, can be read and changed on the way"

  @Test(arguments: [
    Mistake("upstream: http://api.example", "10:15: error: routes.r.upstream: \(insecure)"),
    Mistake("upstream: http://api.example\nallow_insecure: true", "10:15: warning: routes.r.upstream: \(clear)"),
    Mistake("upstream: https://api.example/?a=b", "10:15: error: routes.r.upstream: must not have a query (?…)"),
    Mistake("path: /r", "9:3: error: routes.r.upstream: is required"),
    Mistake(
      "upstream: https://api.example\npath: /b",
      "11:11: error: routes.r.path: the same path as routes.used.path on line 6"),
    Mistake(
      "upstream: http://127.0.0.1:9449/x", "10:15: error: routes.r.upstream: is an address proofd itself listens on"),
    Mistake(
      "upstream: http://localhost:9449", "10:15: error: routes.r.upstream: is an address proofd itself listens on"),
    Mistake(
      "upstream: http://used.localhost:9449", "10:15: error: routes.r.upstream: is an address proofd itself listens on"),
    Mistake(
      "upstream: https://b.example\ncredential: cc",
      #"11:17: error: routes.r.credential: there is no credential of this name; did you mean "c"?"#),
    Mistake(
      "upstream: https://b.example\ncredential: nothing-alike",
      "11:17: error: routes.r.credential: there is no credential of this name"),
    Mistake(
      "upstream: https://b.example\ncredential: c/work",
      "11:17: error: routes.r.credential: this credential has no accounts: only grant: authorization_code, device_code and password have"
    ),
    Mistake(
      "upstream: https://b.example\nscope: a", "11:5: error: routes.r.scope: has a meaning with a credential only"),
    Mistake(
      "upstream: https://b.example\ncredential: b\naudience: a",
      "12:5: error: routes.r.audience: has a meaning with a provider: oidc credential only"),
    Mistake(
      "upstream: https://b.example\ncredential: b\nhtu_base: https://a.example",
      "12:5: error: routes.r.htu_base: has a meaning with a dpop: true credential only"),
    Mistake(
      "upstream: https://b.example\nhtu_path: raw",
      "11:5: error: routes.r.htu_path: has a meaning with a dpop: true credential only"),
    Mistake(
      "upstream: https://b.example\ncredential: c\nhtu_base: https://a.example/?q",
      "12:15: error: routes.r.htu_base: must not have a query (?…)"),
    Mistake(
      "upstream: https://b.example\ncredential: c\nhtu_path: decode",
      #"12:15: error: routes.r.htu_path: must be one of raw, decoded; did you mean "decoded"?"#),
    Mistake(
      "upstream: https://b.example\ncredential: c\npass_authorization: true",
      "12:5: error: routes.r.pass_authorization: the credential sets Authorization: a request can't have two"),
    Mistake(
      "upstream: https://b.example\nmethods: [GET, TRACE]", "11:20: error: routes.r.methods[1]: TRACE is never proxied"),
    Mistake(
      "upstream: https://b.example\nmethods: connect", "11:14: error: routes.r.methods: CONNECT is never proxied"),
    Mistake(
      "upstream: https://b.example\nmethods: [get]",
      #"11:15: error: routes.r.methods[0]: methods are case-sensitive; did you mean "GET"?"#),
    Mistake(
      "upstream: https://b.example\nmethods: [\"G T\"]",
      "11:15: error: routes.r.methods[0]: must be a method such as GET"),
    Mistake(
      "upstream: https://b.example\nmethods: [AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA]",
      "11:15: error: routes.r.methods[0]: must be a method such as GET"),
    Mistake(
      "upstream: https://b.example\nmethods: []",
      "11:14: error: routes.r.methods: allows no method; leave it out to allow all but TRACE, TRACK and CONNECT"),
    Mistake(
      "upstream: https://b.example\nremove_headers: [Host]",
      "11:22: error: routes.r.remove_headers[0]: this field is set or removed by proofd itself and can't be listed here"
    ),
    Mistake(
      "upstream: https://b.example\nremove_headers: ['a:']",
      "11:22: error: routes.r.remove_headers[0]: must be a field name such as X-Api-Key, without colon and spaces"),
    Mistake(
      "upstream: http://localhost:1\ntls: {ca: a}",
      "11:5: error: routes.r.tls: has a meaning with an https upstream only"),
    Mistake(
      "upstream: https://b.example\ntls: {server_name: 'a b'}",
      "11:24: error: routes.r.tls.server_name: must be a host name"),
    Mistake(
      "upstream: https://b.example\nreplay_limit: 33MiB",
      "11:19: error: routes.r.replay_limit: must not be more than replay_total (32MiB)"),
    Mistake("upstream: https://b.example\ntimeouts: {drain: 1s}", "11:16: error: routes.r.timeouts.drain: unknown key"),
    Mistake(
      "upstream: https://b.example\nupstrem: https://b.example",
      #"11:5: error: routes.r.upstrem: unknown key; did you mean "upstream"?"#),
    Mistake(
      "upstream: https://b.example\nhost: x", "11:5: error: routes.r.host: not supported by this version of proofd"),
    Mistake(
      "upstream: https://other.example\ncredential: b",
      "11:17: warning: routes.r.credential: the same token also goes to the upstream of routes.used, another origin; without DPoP each of them can use it at the other"
    ),
  ])
  func `is refused or doubted`(_ mistake: Mistake) {
    #expect(problems(route(mistake.text)) == [mistake.problem])
  }

  @Test(arguments: [
    "https://user:pw@api.example", "https://api.example/#f", "ftp://api.example", "api.example", "https://",
  ])
  func `has an upstream that is a URL`(_ url: String) {
    let found = problems(route("upstream: \"\(url)\""))
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("10:15: error: routes.r.upstream: is not a URL that can be used: ") == true)
    #expect(found.first?.contains("pw") == false)
  }

  @Test(arguments: [
    "upstream: https://b.example:443/other\ncredential: b",  // the same origin
    "upstream: https://other.example\ncredential: c",  // DPoP
  ])
  func `may share a credential where that is safe`(_ lines: String) {
    #expect(problems(route(lines)) == [])
  }

  @Test func `may pass the caller's Authorization beside a credential in another field`() throws {
    #expect(try read("upstream: https://k.example\ncredential: k\npass_authorization: true").passAuthorization)
    #expect(try read("upstream: https://k.example\npass_authorization: true").passAuthorization)
  }

  @Test func `may share a Bearer client when each origin gets a token of its own`() {
    let text = """
      credentials:
        c: {provider: oidc, issuer: "https://id.example", grant: client_credentials, client_id: x}
      routes:
        a: {path: /a, upstream: "https://a.example", credential: c, audience: a}
        b: {path: /b, upstream: "https://b.example", credential: c, audience: b}
      """
    #expect(problems(text) == [])
    let shared = problems(text.replacing("audience: b", with: "audience: a"))
    #expect(shared.count == 1)
    #expect(shared.first?.hasPrefix("5:60: warning: routes.b.credential: the same token also goes to") == true)
  }

  @Test func `may not share a DPoP client silently that takes Bearer tokens too`() {
    let text = """
      credentials:
        c: {provider: oidc, issuer: "https://id.example", grant: client_credentials, client_id: x, dpop: true}
      routes:
        a: {path: /a, upstream: "https://a.example", credential: c}
        b: {path: /b, upstream: "https://b.example", credential: c}
      """
    #expect(problems(text) == [])
    #expect(problems(text.replacing("dpop: true", with: "dpop: true, allow_bearer: true")).count == 1)
  }

  @Test func `of a credential that is broken is not blamed for it`() {
    let text = """
      credentials:
        c: {provider: static}
      routes:
        a: {path: /a, upstream: "https://a.example", credential: c, scope: x}
      """
    #expect(problems(text) == ["2:3: error: credentials.c.token: is required"])
  }
}
