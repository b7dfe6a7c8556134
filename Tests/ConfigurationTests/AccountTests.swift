import Configuration
import Testing

@Suite struct `An account` {
  /// A route with a credential as written.
  private func route(_ reference: String, grant: String = "device_code") -> String {
    """
    credentials: {acme: {provider: oidc, issuer: "https://id.example", client_id: x, grant: \(grant)}}
    routes: {r: {upstream: "https://api.example", credential: \(reference)}}
    """
  }

  @Test(arguments: [
    ("acme", nil), ("acme/work", "work"), ("acme/me+1@work_2.example-x", "me+1@work_2.example-x"), ("acme/", ""),
  ])
  func `is named behind its profile`(_ text: String, _ account: String?) throws {
    let credential = try #require(try configuration(route(text)).routes.first?.credential)
    #expect(credential == RouteCredential(name: "acme", account: account))
    #expect(credential.reference.description == text)
  }

  @Test func `has a token of its own`() {
    let names = [nil, "", "work", "home"]
    #expect(Set(names.map { RouteCredential(name: "acme", account: $0) }).count == names.count)
  }

  private static let form = "an account's name has letters, digits, - _ . @ and + (64 at most)"

  @Test(arguments: [
    Mistake("acme/a b", "2:59: error: routes.r.credential: \(form)"),
    Mistake("acme/a/b", "2:59: error: routes.r.credential: \(form)"),
    Mistake("acme/ä", "2:59: error: routes.r.credential: \(form)"),
    Mistake("acme/" + String(repeating: "a", count: 65), "2:59: error: routes.r.credential: \(form)"),
    Mistake(
      "acne/work",
      #"2:59: error: routes.r.credential: there is no credential of this name; did you mean "acme"?"#),
  ])
  func `that can't be is refused`(_ mistake: Mistake) {
    #expect(problems(route(mistake.text)) == [mistake.problem])
  }

  @Test func `is of a login only`() {
    let none = "this credential has no accounts: only grant: authorization_code, device_code and password have"
    #expect(
      problems(route("acme/work", grant: "client_credentials")) == ["2:59: error: routes.r.credential: \(none)"])
    #expect(
      problems(route("acme/work", grant: "jwt_bearer, assertion: {env: A}"))
        == ["2:59: error: routes.r.credential: \(none)"])
    #expect(problems(route("acme/work", grant: "password, username: u, password: {env: P}")) == [])
    let fixed = "credentials: {k: {provider: static, token: {env: T}}}\n"
    #expect(
      problems(fixed + "routes: {r: {upstream: \"https://a.example\", credential: k/work}}")
        == ["2:57: error: routes.r.credential: \(none)"])
  }
}

@Suite struct `The subject of an exchange` {
  private static let oidc = "provider: oidc, issuer: \"https://id.example\", client_id: x"

  private func file(_ subject: String, more: String = "") -> String {
    """
    routes: {r: {upstream: "https://api.example", credential: c}}
    credentials:
      c: {grant: token_exchange, subject_credential: \(subject), \(Self.oidc)}
      login: {\(Self.oidc)}
      machine: {grant: client_credentials, \(Self.oidc)}
    \(more)
    """
  }

  private func errors(_ text: String) -> [String] {
    parse(text).problems.filter { $0.severity == .error }.map { String($0.description.dropFirst("proofd.yaml:".count)) }
  }

  @Test(arguments: [
    ("login", CredentialReference(name: "login")), ("login/work", CredentialReference(name: "login", account: "work")),
    ("machine", CredentialReference(name: "machine")),
  ])
  func `may be another credential`(_ text: String, _ reference: CredentialReference) throws {
    let found = parse(file(text))
    guard case .client(let client) = found.configuration?.credential(named: "c")?.kind else {
      Issue.record("no client: \(found.problems)")
      return
    }
    #expect(client.grant == .tokenExchange(TokenExchangeProfile(subject: .credential(reference))))
    // What is exchanged is used.
    #expect(found.problems.map(\.keyPath) == [reference.name == "login" ? "credentials.machine" : "credentials.login"])
  }

  private static let place = "3:50: error: credentials.c.subject_credential:"

  @Test func `is one that gives a token`() {
    #expect(
      errors(file("logn")) == ["\(Self.place) there is no credential of this name; did you mean \"login\"?"])
    #expect(
      errors(file("machine/work")) == [
        "\(Self.place) this credential has no accounts: only grant: authorization_code, device_code and password have"
      ])
    #expect(
      errors(file("k", more: "  k: {provider: static, token: {env: T}}")) == [
        "\(Self.place) must be a provider: oidc credential; a fixed token is a subject_token"
      ])
    #expect(
      errors(file("login/a b")) == [
        "\(Self.place) an account's name has letters, digits, - _ . @ and + (64 at most)"
      ])
  }

  @Test func `is not what comes of it`() {
    let back = "leads back to this credential: there is no token to begin with"
    #expect(errors(file("c")) == ["\(Self.place) \(back)"])
    let ring = """
        d: {grant: token_exchange, subject_credential: e, \(Self.oidc)}
        e: {grant: token_exchange, subject_credential: c, \(Self.oidc)}
      """
    #expect(
      errors(file("d", more: ring)) == [
        "\(Self.place) \(back)", "6:50: error: credentials.d.subject_credential: \(back)",
        "7:50: error: credentials.e.subject_credential: \(back)",
      ])
    // A ring further on is its members' mistake.
    let others = "  d: {grant: token_exchange, subject_credential: d, \(Self.oidc)}"
    #expect(errors(file("d", more: others)) == ["6:50: error: credentials.d.subject_credential: \(back)"])
  }

  @Test func `that is broken is not blamed for it`() {
    let text = file("d", more: "  d: {provider: static}")
    #expect(errors(text) == ["6:3: error: credentials.d.token: is required"])
  }
}

@Suite struct `What may be exported` {
  @Test func `is said by the profile`() throws {
    let fixed = "provider: static\ntoken: {env: T}"
    #expect(try configuration(credential(fixed)).credentials.map(\.allowExport) == [false])
    #expect(try configuration(credential(fixed + "\nallow_export: true")).credentials.map(\.allowExport) == [true])
    #expect(try configuration(client("allow_export: true")).credentials.map(\.allowExport) == [true])
  }

  @Test func `is in use without a route`() {
    #expect(
      problems("credentials: {a: {provider: static, token: {env: A}, allow_export: true}}\nroutes: {}") == [])
  }

  @Test func `is read wherever else there is a mistake`() {
    #expect(
      problems(credential("provider: static\nallow_export: yes")) == [
        "3:3: error: credentials.c.token: is required",
        #"5:19: error: credentials.c.allow_export: must be true or false; did you mean "true"?"#,
      ])
  }
}
