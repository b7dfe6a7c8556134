import Configuration
import Cryptography
import Testing

@Suite struct `Problems` {
  @Test func `are all listed at once, each at its place`() {
    let text = """
      listen: 0.0.0.0:9449
      console: 127.0.0.1:9450
      threads: many
      credentials:
        acme:
          provider: oidc
          grant: device_code
          client_id: abc
          client_secret: hunter2
        legacy:
          provider: static
          token: {file: ~/t, env: T}
          header: Content-Length
      routes:
        orders:
          path: orders/
          upstrem: https://api.example
          credential: acme
        stock:
          path: /stock
          upstream: http://api.example
          credential: lagacy
          methods: [GET, TRACE]
      token_timeout: 10
      """
    let found = parse(text)
    #expect(found.configuration == nil)
    #expect(
      found.problems.map(\.description) == [
        "proofd.yaml:1:9: error: listen: must be a loopback address: to listen elsewhere needs callers: keys, not supported by this version of proofd",
        "proofd.yaml:2:1: error: console: not supported by this version of proofd",
        "proofd.yaml:3:10: error: threads: must be a whole number from 1 to 64",
        "proofd.yaml:5:3: error: credentials.acme.issuer: is required, to discover the endpoints; or give them: endpoints: {token: URL}",
        "proofd.yaml:9:20: error: credentials.acme.client_secret: a secret of fewer than 8 characters; use {env: NAME}, {file: PATH} or {command: […]}",
        "proofd.yaml:12:12: error: credentials.legacy.token: must be exactly one of {env: NAME}, {file: PATH} and {command: [PROGRAM, …]}",
        "proofd.yaml:13:13: error: credentials.legacy.header: this field can't hold a credential: proofd sets or removes it itself",
        "proofd.yaml:15:3: error: routes.orders.upstream: is required",
        "proofd.yaml:16:11: error: routes.orders.path: must begin with /",
        "proofd.yaml:17:5: error: routes.orders.upstrem: unknown key; did you mean \"upstream\"?",
        "proofd.yaml:21:15: error: routes.stock.upstream: must be https; plain http is for loopback hosts, or with allow_insecure: true",
        "proofd.yaml:22:17: error: routes.stock.credential: there is no credential of this name; did you mean \"legacy\"?",
        "proofd.yaml:23:20: error: routes.stock.methods[1]: TRACE is never proxied",
        "proofd.yaml:24:16: error: token_timeout: needs a unit: ms, s, m or h",
      ])
  }

  @Test func `count columns in characters`() {
    #expect(
      problems("credentials: {'é': 1}\nroutes: {}").contains {
        $0.hasPrefix("1:20: error: credentials.é: must be a mapping")
      })
  }

  @Test func `that are warnings leave the configuration usable`() {
    let found = parse("")
    #expect(found.configuration == nil)
    let doubted = parse("threads: 2")
    #expect(doubted.configuration?.threads == 2)
    #expect(
      doubted.problems.map(\.description) == [
        "proofd.yaml:1:1: warning: routes: there are no routes: every request is answered no_route"
      ])
  }

  @Test(arguments: [
    "token: SENTINEL-5f1d", "token: [SENTINEL-5f1d]", "token: {SENTINEL-5f1d}", "token: {SENTINEL-5f1d: x}",
    "token: {SENTINEL-5f1d: a, SENTINEL-5f1d: b}", "token: &a {SENTINEL-5f1d: &b c}", "token: !x SENTINEL-5f1d",
    "token: {env: SENTINEL-5f1d}", "token: {command: SENTINEL-5f1d}", "scheme: SENTINEL-5f1d\ntoken: x",
    "token: {env: [SENTINEL-5f1d]}", "token: \"SENTINEL-5f1d\\n\"", "token: {command: [a, {SENTINEL-5f1d: b}]}",
    "token: x SENTINEL-5f1d: y", "header: SENTINEL 5f1d SENTINEL-5f1d\ntoken: {env: X}",
    "reread: SENTINEL-5f1d\ntoken: {file: x}",
    "scheme: Basic\nusername: ':SENTINEL-5f1d'\npassword: SENTINEL-5f1d", "provider: SENTINEL-5f1d",
    "token: | SENTINEL-5f1d", "token: 'SENTINEL-5f1d", "token: *SENTINEL-5f1d",
  ])
  func `never repeat a value, which may be a secret`(_ lines: String) {
    let found = parse(credential("provider: static\n" + lines))
    #expect(!found.problems.isEmpty)
    for problem in found.problems {
      #expect(!"\(problem)".contains("SENTINEL"), "\(problem)")
    }
  }

  @Test func `and values print no secret`() throws {
    let value = try configuration(credential("provider: static\ntoken: SENTINEL-5f1d"))
    var dumped = ""
    dump(value, to: &dumped)
    #expect(!dumped.contains("SENTINEL"))
    #expect(!"\(value)\(String(reflecting: value))".contains("SENTINEL"))
    #expect(
      [
        SecretReference.literal(Secret(utf8: "SENTINEL")), .environment("T"), .file("/t"),
        .command(["/bin/pass", "x"]),
        .command(["x"]),
      ].map(\.description) == ["[secret]", "{env: T}", "{file: /t}", "{command: [/bin/pass, …]}", "{command: [x]}"])
  }

  @Test(arguments: [
    ("upstrem", "upstream"), ("methds", "methods"), ("passAuthorization", "pass_authorization"),
    ("REMOVE-HEADERS", "remove_headers"), ("htubase", "htu_base"), ("crednetial", "credential"), ("xyz", nil),
    ("p", nil),
    ("authorization_pass_header", nil),
  ])
  func `name the nearest key, if one is near`(_ key: String, _ nearest: String?) {
    let text = "routes: {r: {upstream: \"https://a.example\", \(key): 1}}"
    #expect(parse(text).problems.map(\.suggestion) == [nearest])
  }
}
