import Configuration
import Cryptography
import HTTPWire
import Testing

@Suite struct `A static credential` {
  @Test(arguments: [
    ("token: {env: TOKEN}", StaticCredential.Placement.bearer(.environment("TOKEN"))),
    ("token: {file: t}", .bearer(.file("/etc/proofd/t"))),
    ("token: {file: ~/t}\nscheme: Bearer", .bearer(.file("/home/me/t"))),
    ("token: {command: [pass, show, '']}", .bearer(.command(["pass", "show", ""]))),
    ("token: {command: [bin/x]}", .bearer(.command(["/etc/proofd/bin/x"]))),
    ("token: {command: [~/x, ~/y]}", .bearer(.command(["/home/me/x", "~/y"]))),
    ("token: long-enough", .bearer(.literal(Secret(utf8: "long-enough")))),
    ("scheme: Basic\nusername: u\npassword: {env: P}", .basic(username: "u", password: .environment("P"))),
    ("header: X-Api-Key\ntoken: {env: T}", .field(name: "X-Api-Key", .environment("T"))),
    ("header: Authorization\ntoken: {env: T}", .field(name: "Authorization", .environment("T"))),
    ("query: api key\ntoken: {env: T}", .query(name: "api key", .environment("T"))),
  ])
  func `is sent in one of four ways`(_ text: String, _ placement: StaticCredential.Placement) throws {
    let value = try configuration(credential("provider: static\n" + text))
    #expect(value.credentials == [CredentialProfile(name: "c", kind: .fixed(StaticCredential(placement: placement)))])
    #expect(value.credentials.first?.usesDPoP == false)
  }

  @Test func `names the variables that no program is given`() throws {
    let value = try configuration(
      """
      credentials:
        a: {provider: static, token: {env: A}}
        b: {provider: static, token: {file: b}}
        c:
          provider: oidc
          issuer: https://id.example
          client_id: x
          client_secret: {env: B}
          grant: jwt_bearer
          assertion: {env: C}
      """)
    #expect(value.secretVariables == ["A", "B", "C"])
  }

  @Test func `is read again when it may change`() throws {
    let value = try configuration(credential("provider: static\ntoken: {file: t}\nreread: 5m"))
    #expect(
      value.credential(named: "c")?.kind
        == .fixed(StaticCredential(placement: .bearer(.file("/etc/proofd/t")), reread: .seconds(300))))
  }

  private static let reference = "must be exactly one of {env: NAME}, {file: PATH} and {command: [PROGRAM, …]}"
  private static let ours = "this field can't hold a credential: proofd sets or removes it itself"

  @Test(arguments: [
    Mistake(
      "token: short12",
      "5:12: error: credentials.c.token: a secret of fewer than 8 characters; use {env: NAME}, {file: PATH} or {command: […]}"
    ),
    Mistake(
      "token: ''",
      "5:12: error: credentials.c.token: needs a value: {env: NAME}, {file: PATH} or {command: [PROGRAM, …]}"),
    Mistake(
      "token: \"a\\nbcdefgh\"",
      "5:12: error: credentials.c.token: a secret has no line breaks and no control characters"),
    Mistake(
      "token: 12345678",
      "5:12: warning: credentials.c.token: the secret stands in the file; {env: NAME}, {file: PATH} or {command: […]} keeps it out"
    ),
    Mistake("token: {}", "5:12: error: credentials.c.token: \(reference)"),
    Mistake("token: {env: A, file: b}", "5:12: error: credentials.c.token: \(reference)"),
    Mistake("token: [a]", "5:12: error: credentials.c.token: \(reference)"),
    Mistake(
      "token: {env: $A}",
      "5:18: error: credentials.c.token.env: must be the name of an environment variable: letters, digits and _, without $"
    ),
    Mistake(
      "token: {env: 1A}",
      "5:18: error: credentials.c.token.env: must be the name of an environment variable: letters, digits and _, without $"
    ),
    Mistake(
      "token: {command: pass show x}",
      "5:22: error: credentials.c.token.command: must be a list, program first: there is no shell to split it into words"
    ),
    Mistake(
      "token: {command: []}", "5:22: error: credentials.c.token.command: must be a list of 1 to 64 words, program first"
    ),
    Mistake("token: {command: [a, [b]]}", "5:26: error: credentials.c.token.command[1]: must be a text"),
    Mistake("token: {env: A}\nscheme: Digest", "6:13: error: credentials.c.scheme: must be one of Bearer, Basic"),
    Mistake(
      "token: {env: A}\nscheme: bearer",
      #"6:13: error: credentials.c.scheme: must be one of Bearer, Basic; did you mean "Bearer"?"#),
    Mistake("scheme: Basic\nusername: u", "3:3: error: credentials.c.password: is required by scheme: Basic"),
    Mistake(
      "scheme: Basic\nusername: 'a:b'\npassword: {env: P}",
      "6:15: error: credentials.c.username: must not have a colon or control characters"),
    Mistake(
      "scheme: Basic\nusername: u\npassword: {env: P}\ntoken: {env: A}",
      "8:5: error: credentials.c.token: scheme: Basic has username and password instead"),
    Mistake("token: {env: A}\nusername: u", "6:5: error: credentials.c.username: goes with scheme: Basic only"),
    Mistake(
      "token: {env: A}\nheader: X\nquery: k",
      "7:5: error: credentials.c.query: a credential is sent in one way: header or query"),
    Mistake("header: X-Key", "3:3: error: credentials.c.token: is required"),
    Mistake(
      "header: 'X Key'\ntoken: {env: A}",
      "5:13: error: credentials.c.header: must be a field name such as X-Api-Key, without colon and spaces"),
    Mistake("header: Host\ntoken: {env: A}", "5:13: error: credentials.c.header: \(ours)"),
    Mistake("header: content-length\ntoken: {env: A}", "5:13: error: credentials.c.header: \(ours)"),
    Mistake("header: TE\ntoken: {env: A}", "5:13: error: credentials.c.header: \(ours)"),
    Mistake("header: Proxy-Authorization\ntoken: {env: A}", "5:13: error: credentials.c.header: \(ours)"),
    Mistake("header: DPoP\ntoken: {env: A}", "5:13: error: credentials.c.header: \(ours)"),
    Mistake("header: X-Forwarded-For\ntoken: {env: A}", "5:13: error: credentials.c.header: \(ours)"),
    Mistake(
      "token: {env: A}\nreread: 5s",
      "6:5: error: credentials.c.reread: only a secret from a file or a command can change and be read again"),
    Mistake(
      "token: {env: A}\nissuer: https://id.example", "6:5: error: credentials.c.issuer: is a key of provider: oidc only"
    ),
    Mistake(
      "token: {env: A}\nprivate_key: {env: K}",
      "6:5: error: credentials.c.private_key: is a key of provider: oidc only"),
    Mistake("tokn: {env: A}\ntoken: {env: A}", #"5:5: error: credentials.c.tokn: unknown key; did you mean "token"?"#),
  ])
  func `is refused or doubted`(_ mistake: Mistake) {
    #expect(problems(credential("provider: static\n" + mistake.text)) == [mistake.problem])
  }
}

@Suite struct `A credential` {
  @Test(arguments: [
    Mistake("token: {env: A}", "3:3: error: credentials.c.provider: is required: static or oidc"),
    Mistake(
      "provider: auth0\ndomain: x",
      "4:15: error: credentials.c.provider: \"auth0\" is not supported by this version of proofd; it knows static, oidc"
    ),
    Mistake(
      "provider: okta",
      "4:15: error: credentials.c.provider: \"okta\" is not supported by this version of proofd; it knows static, oidc"),
    Mistake(
      "provider: own-auth",
      "4:15: error: credentials.c.provider: \"own-auth\" is not supported by this version of proofd; it knows static, oidc"
    ),
    Mistake(
      "provider: odic", #"4:15: error: credentials.c.provider: must be one of static, oidc; did you mean "oidc"?"#),
    Mistake("[]", "4:5: error: credentials.c: must be a mapping with keys such as provider, issuer, endpoints"),
  ])
  func `has a provider`(_ mistake: Mistake) {
    #expect(problems(credential(mistake.text)) == [mistake.problem])
  }

  @Test func `has a name that fits everywhere`() {
    #expect(
      problems("credentials: {'a/b': {provider: static, token: {env: A}}}\nroutes: {}") == [
        "1:15: error: credentials.a/b: a credential's name has letters, digits, - _ and . (64 at most)"
      ])
  }

  @Test func `that no route uses is doubted`() {
    #expect(
      problems("credentials: {a: {provider: static, token: {env: A}}}\nroutes: {}") == [
        "1:15: warning: credentials.a: no route uses this credential"
      ])
  }
}

@Suite struct `A client credential` {
  private static let least = "issuer: https://id.example\ngrant: client_credentials\nclient_id: x\n"

  private func client(_ lines: String) throws -> ClientProfile {
    let value = try configuration(credential("provider: oidc\n" + lines))
    guard case .client(let client) = try #require(value.credentials.first).kind else {
      throw Unexpected()
    }
    return client
  }
  private struct Unexpected: Error {}

  @Test func `has defaults`() throws {
    let issuer = try HTTPURL(parsing: "https://id.example")
    #expect(
      try client(Self.least)
        == ClientProfile(
          issuer: "https://id.example", issuerURL: issuer, tokenEndpoint: nil, grant: .clientCredentials, clientID: "x")
    )
  }

  @Test func `takes all its keys`() throws {
    let value = try client(
      """
      issuer: https://id.example/tenant/
      endpoints: {token: "https://id.example/token?tenant=1"}
      grant: client_credentials
      client_id: x
      client_secret: {env: S}
      client_auth: post
      scope: b a  b
      audience: https://api.example/
      resource: [urn:a, "https://b.example/"]
      parameters: {organization: no, tier: 1}
      dpop: true
      allow_bearer: true
      tls: {ca: ca.pem}
      """)
    #expect(value.issuer == "https://id.example/tenant/")
    #expect(value.tokenEndpoint?.query == "tenant=1")
    #expect(value.authentication == .post(.environment("S")))
    #expect(value.target.scope == ["b", "a"])
    #expect(value.target.scopeParameter == "b a")
    #expect(value.target.audience == "https://api.example/")
    #expect(value.target.resource == ["urn:a", "https://b.example/"])
    #expect(value.target.parameters.map(\.value) == ["no", "1"])
    #expect(value.dpop && value.allowBearer)
    #expect(value.certificateAuthorityFile == "/etc/proofd/ca.pem")
  }

  @Test(arguments: [
    ("", ClientAuthentication.none), ("client_secret: {env: S}", .basic(.environment("S"))),
    ("client_secret: {env: S}\nclient_auth: basic", .basic(.environment("S"))), ("client_auth: none", .none),
  ])
  func `shows its secret as RFC 6749 §2.3.1 prefers`(_ lines: String, _ method: ClientAuthentication) throws {
    #expect(try client(Self.least + lines).authentication == method)
  }

  @Test func `may have a plain http issuer on this machine`() throws {
    for host in ["127.0.0.1:1", "localhost", "[::1]:1"] {
      let issuer = "issuer: \"http://\(host)\"\ngrant: client_credentials\nclient_id: x"
      #expect(problems(credential("provider: oidc\n" + issuer)) == [])
    }
  }

  private static let clear = "plain http: what is sent there, credentials included, can be read and changed on the way"

  @Test(arguments: [
    Mistake(
      "issuer: http://id.example",
      "7:13: error: credentials.c.issuer: must be https; plain http is for loopback hosts, or with allow_insecure: true"
    ),
    Mistake("allow_insecure: true\nissuer: http://id.example", "8:13: warning: credentials.c.issuer: \(clear)"),
    Mistake("issuer: https://id.example/?a", "7:13: error: credentials.c.issuer: must not have a query (?…)"),
    Mistake(
      "scope: a",
      "3:3: error: credentials.c.issuer: is required, to discover the endpoints; or give them: endpoints: {token: URL}"),
    Mistake("endpoints: {}", "7:5: error: credentials.c.endpoints.token: is required"),
    Mistake(
      "endpoints: {token: 'https://a.example', jwks: 'https://a.example'}",
      "7:45: error: credentials.c.endpoints.jwks: not supported by this version of proofd"),
    Mistake(
      "endpoints: {token: 'http://a.example/t'}",
      "7:24: error: credentials.c.endpoints.token: must be https; plain http is for loopback hosts, or with allow_insecure: true"
    ),
  ])
  func `has an authorization server`(_ mistake: Mistake) {
    let lines = "provider: oidc\ngrant: client_credentials\nclient_id: x\n" + mistake.text
    #expect(problems(credential(lines)) == [mistake.problem])
  }

  @Test(arguments: [
    Mistake(
      "grant: client_credential",
      #"4:12: error: credentials.c.grant: must be one of authorization_code, device_code, client_credentials, jwt_bearer, token_exchange, password; did you mean "client_credentials"?"#
    ),
    Mistake(
      "grant: [password]",
      "4:12: error: credentials.c.grant: must be one of authorization_code, device_code, client_credentials, jwt_bearer, token_exchange, password, not a list"
    ),
  ])
  func `has a grant this version knows`(_ mistake: Mistake) {
    let text = credential(mistake.text + "\nprovider: oidc\nissuer: https://id.example\nclient_id: x")
    #expect(problems(text) == [mistake.problem])
  }

  @Test(arguments: [
    Mistake(
      "client_auth: client_secret_basic",
      #"8:18: error: credentials.c.client_auth: must be one of none, basic, post, private_key_jwt, client_secret_jwt, tls; did you mean "basic"?"#
    ),
    Mistake("client_auth: basic", "3:3: error: credentials.c.client_secret: is required by client_auth: basic"),
    Mistake(
      "client_auth: none\nclient_secret: {env: S}",
      "9:5: error: credentials.c.client_secret: goes with client_auth: basic, post or client_secret_jwt only"),
    Mistake(
      "client_secret: hunter2",
      "8:20: error: credentials.c.client_secret: a secret of fewer than 8 characters; use {env: NAME}, {file: PATH} or {command: […]}"
    ),
    Mistake("allow_bearer: true", "8:5: error: credentials.c.allow_bearer: has a meaning with dpop: true only"),
    Mistake("scope: 'a\"b'", "8:12: error: credentials.c.scope: has a character that no scope can have"),
    Mistake("scope: {a: b}", "8:12: error: credentials.c.scope: must be a list"),
    Mistake(
      "resource: /x",
      "8:15: error: credentials.c.resource: must be an absolute URI without fragment, such as https://api.example.com/"),
    Mistake(
      "resource: ['https://a.example/#x']",
      "8:16: error: credentials.c.resource[0]: must be an absolute URI without fragment, such as https://api.example.com/"
    ),
    Mistake("parameters: {grant_type: x}", "8:18: error: credentials.c.parameters.grant_type: is set by proofd itself"),
    Mistake(
      "parameters: {client_secret: xxxxxxxxxx}",
      "8:18: error: credentials.c.parameters.client_secret: has a key of its own: client_secret"),
    Mistake("parameters: {scope: x}", "8:18: error: credentials.c.parameters.scope: has a key of its own: scope"),
    Mistake("parameters: {a: [b]}", "8:21: error: credentials.c.parameters.a: must be a text, not a list"),
    Mistake(
      "parameters: x",
      "8:17: error: credentials.c.parameters: must be a mapping of token request parameters and their values"),
    Mistake("header: x", "8:5: error: credentials.c.header: is a key of provider: static only"),
    Mistake("dpop: ES256", "8:11: error: credentials.c.dpop: must be true or false"),
    Mistake("domain: x", "8:5: error: credentials.c.domain: not supported by this version of proofd"),
  ])
  func `is refused`(_ mistake: Mistake) {
    #expect(problems(credential("provider: oidc\n" + Self.least + mistake.text)) == [mistake.problem])
  }

  @Test func `tells tokens apart by what they are for, in whatever order it is written`() {
    let one = TokenTarget(scope: ["a", "b"], resource: ["urn:a", "urn:b"])
    let same = TokenTarget(scope: ["b", "a"], resource: ["urn:b", "urn:a"])
    #expect(one == same)
    #expect(Set([one, same]).count == 1)
    #expect(one != TokenTarget(scope: ["a"], resource: ["urn:a", "urn:b"]))
    #expect(one != TokenTarget(audience: "a", scope: ["a", "b"], resource: ["urn:a", "urn:b"]))
    #expect(TokenTarget().scopeParameter == nil)
  }
}
