import Configuration
import Testing

/// `credentials.c` of `provider: oidc` with the given lines, the first of which is the sixth of the file.
func client(_ lines: String) -> String {
  credential("provider: oidc\nissuer: https://id.example\nclient_id: x\n" + lines)
}

/// The profile that `client` makes.
func clientProfile(_ lines: String) throws -> ClientProfile {
  let value = try configuration(client(lines))
  let profile = try #require(value.credential(named: "c"))
  guard case .client(let client) = profile.kind else { throw NoClient() }
  return client
}

private struct NoClient: Error {}

@Suite struct `A grant` {
  @Test(arguments: [
    ("dpop: false", ClientProfile.Grant.authorizationCode, true),
    ("grant: authorization_code", .authorizationCode, true),
    ("grant: device_code", .deviceCode, true),
    ("grant: client_credentials", .clientCredentials, false),
    ("grant: jwt_bearer\nassertion: {file: /a}", .jwtBearer(.given(.file("/a"))), false),
    (
      "grant: jwt_bearer\nsigned_assertion: {subject: s, private_key: {env: K}}",
      .jwtBearer(
        .signed(
          SignedAssertion(issuer: "x", subject: "s", key: SigningKeyReference(privateKey: .environment("K"))))), false
    ),
    (
      """
      grant: jwt_bearer
      signed_assertion:
        issuer: i
        subject: s
        audience: a
        lifetime: 5m
        private_key: {command: [/bin/key]}
        key_id: "1"
        signing_algorithm: PS256
        claims: {scope: a b, version: 2}
      """,
      .jwtBearer(
        .signed(
          SignedAssertion(
            issuer: "i", subject: "s", audience: "a", lifetime: .seconds(300),
            key: SigningKeyReference(privateKey: .command(["/bin/key"]), keyID: "1", algorithm: .ps256),
            claims: [AssertionClaim(name: "scope", value: "a b"), AssertionClaim(name: "version", value: "2")]))), false
    ),
    (
      "grant: token_exchange\nsubject_token: {env: T}",
      .tokenExchange(TokenExchangeProfile(subject: .token(.environment("T")))), false
    ),
    (
      """
      grant: token_exchange
      subject_token: {env: T}
      subject_token_type: urn:ietf:params:oauth:token-type:jwt
      actor_token: {env: A}
      actor_token_type: urn:ietf:params:oauth:token-type:id_token
      requested_token_type: https://types.example/t
      """,
      .tokenExchange(
        TokenExchangeProfile(
          subject: .token(.environment("T")), subjectTokenType: "urn:ietf:params:oauth:token-type:jwt",
          actor: .init(token: .environment("A"), tokenType: "urn:ietf:params:oauth:token-type:id_token"),
          requestedTokenType: "https://types.example/t")), false
    ),
    (
      "grant: password\nusername: 'ü:ser'\npassword: {file: /p}",
      .password(PasswordProfile(username: "ü:ser", password: .file("/p"))), true
    ),
  ])
  func `has what it takes`(_ lines: String, _ grant: ClientProfile.Grant, _ isLogin: Bool) throws {
    #expect(try clientProfile(lines).grant == grant)
    #expect(grant.isLogin == isLogin)
    #expect(try configuration(client(lines)).credentials.first?.isLogin == isLogin)
    #expect(lines.hasPrefix("grant: \(grant.name)") || !lines.hasPrefix("grant"))
  }

  @Test func `says how one login serves further audiences`() throws {
    #expect(try clientProfile("dpop: true").targetMethod == .refresh)
    #expect(try clientProfile("targets: refresh").targetMethod == .refresh)
    #expect(try clientProfile("grant: device_code\ntargets: token_exchange").targetMethod == .tokenExchange)
  }

  private static let logins = "is a key of logins only: grant: authorization_code, device_code or password"
  private static let exchange = "is a key of grant: token_exchange only"
  private static let bearer = "grant: jwt_bearer\nsigned_assertion:"
  private static let example = "such as urn:ietf:params:oauth:token-type:access_token"

  @Test(arguments: [
    Mistake("username: u", "7:5: error: credentials.c.username: is a key of grant: password only"),
    Mistake("assertion: {env: A}", "7:5: error: credentials.c.assertion: is a key of grant: jwt_bearer only"),
    Mistake(
      "grant: client_credentials\nsigned_assertion: {}",
      "8:5: error: credentials.c.signed_assertion: is a key of grant: jwt_bearer only"),
    Mistake("grant: device_code\nsubject_token: {env: A}", "8:5: error: credentials.c.subject_token: \(exchange)"),
    Mistake("subject_credential: c", "7:5: error: credentials.c.subject_credential: \(exchange)"),
    Mistake("actor_token_type: x", "7:5: error: credentials.c.actor_token_type: \(exchange)"),
    Mistake("grant: client_credentials\ntargets: refresh", "8:5: error: credentials.c.targets: \(logins)"),
    Mistake(
      "grant: jwt_bearer\nassertion: {env: A}\ntargets: token_exchange", "9:5: error: credentials.c.targets: \(logins)"),
    Mistake("targets: exchange", "7:14: error: credentials.c.targets: must be one of refresh, token_exchange"),
  ])
  func `takes no key of another`(_ mistake: Mistake) {
    #expect(problems(client(mistake.text)) == [mistake.problem])
  }

  @Test(arguments: [
    Mistake(
      "grant: jwt_bearer",
      "3:3: error: credentials.c.assertion: is required by grant: jwt_bearer; or signed_assertion, for one signed here"),
    Mistake(
      "\(bearer) {subject: s, private_key: {env: K}}\nassertion: {env: A}",
      "8:5: error: credentials.c.signed_assertion: goes without assertion: one of them is sent"),
    Mistake(
      "\(bearer) x",
      "8:23: error: credentials.c.signed_assertion: must be a mapping with keys such as issuer, subject, audience"),
    Mistake(
      "\(bearer) {private_key: {env: K}}", "8:5: error: credentials.c.signed_assertion.subject: is required"),
    Mistake("\(bearer) {subject: s}", "8:5: error: credentials.c.signed_assertion.private_key: is required"),
    Mistake(
      "\(bearer) {subject: s, private_key: {env: K}, lifetime: 2h}",
      "8:69: error: credentials.c.signed_assertion.lifetime: must be from 10s to 1h"),
    Mistake(
      "\(bearer) {subject: s, private_key: {env: K}, claims: {exp: 1}}",
      "8:68: error: credentials.c.signed_assertion.claims.exp: is set by proofd itself"),
    Mistake(
      "\(bearer) {subject: s, private_key: {env: K}, claims: {a: [b]}}",
      "8:71: error: credentials.c.signed_assertion.claims.a: must be a text, not a list"),
    Mistake(
      "\(bearer) {subject: s, private_key: {env: K}, signing_algorithm: HS256}",
      #"8:78: error: credentials.c.signed_assertion.signing_algorithm: must be one of ES256, RS256, PS256, EdDSA; did you mean "ES256"?"#
    ),
    Mistake(
      "\(bearer) {subject: s, private_key: {env: K}, subjct: x}",
      #"8:59: error: credentials.c.signed_assertion.subjct: unknown key; did you mean "subject"?"#),
    Mistake(
      "grant: jwt_bearer\nassertion: eyJhbGciOiJub25lIn0.e30.",
      "8:16: warning: credentials.c.assertion: the secret stands in the file; {env: NAME}, {file: PATH} or {command: […]} keeps it out"
    ),
  ])
  func `with an assertion is refused or doubted`(_ mistake: Mistake) {
    #expect(problems(client(mistake.text)) == [mistake.problem])
  }

  @Test(arguments: [
    Mistake(
      "dpop: true",
      "3:3: error: credentials.c.subject_token: is required by grant: token_exchange; or subject_credential, the name of another credential"
    ),
    Mistake(
      "subject_token: {env: T}\nsubject_credential: d",
      "9:5: error: credentials.c.subject_credential: goes without subject_token: one token is exchanged"),
    Mistake(
      "subject_token: {env: T}\nactor_token: {env: A}",
      "3:3: error: credentials.c.actor_token_type: is required by actor_token"),
    Mistake(
      "subject_token: {env: T}\nactor_token_type: urn:x",
      "3:3: error: credentials.c.actor_token: is required by actor_token_type"),
    Mistake(
      "subject_token: {env: T}\nsubject_token_type: id_token",
      "9:25: error: credentials.c.subject_token_type: must be a token type URI \(example); did you mean \"urn:ietf:params:oauth:token-type:id_token\"?"
    ),
    Mistake(
      "subject_token: {env: T}\nrequested_token_type: mine",
      "9:27: error: credentials.c.requested_token_type: must be a token type URI \(example)"),
  ])
  func `of an exchange is refused`(_ mistake: Mistake) {
    #expect(problems(client("grant: token_exchange\n" + mistake.text)) == [mistake.problem])
  }

  @Test(arguments: [
    Mistake("password: {env: P}", "3:3: error: credentials.c.username: is required by grant: password"),
    Mistake("username: u", "3:3: error: credentials.c.password: is required by grant: password"),
    Mistake(
      "username: \"a\\nb\"\npassword: {env: P}",
      "8:15: error: credentials.c.username: must not have control characters"),
    Mistake(
      "username: u\npassword: correct-horse",
      "9:15: warning: credentials.c.password: the secret stands in the file; {env: NAME}, {file: PATH} or {command: […]} keeps it out"
    ),
  ])
  func `with a password is refused or doubted`(_ mistake: Mistake) {
    #expect(problems(client("grant: password\n" + mistake.text)) == [mistake.problem])
  }
}
