import Cryptography
import HTTPWire
import Testing

@testable import Simulators

/// Passwords, token exchange, revocation and userinfo.
@Suite struct FurtherGrantTests {
  private static let exchange = "urn:ietf:params:oauth:grant-type:token-exchange"
  private static let tokenType = "urn:ietf:params:oauth:token-type:"

  private func start(nonces: NonceMode = .off) throws -> (Simulation, TestClient) {
    let simulation = try Simulation.start(SimulationOptions(nonces: nonces))
    simulation.withSettings {
      $0.authorizationServer.users = [SimulatedUser(username: "ada", password: "correct horse")]
    }
    return (simulation, TestClient(simulation))
  }

  private func claims(_ response: TestConnection.Response) throws -> JSONValue {
    let token = try JSONWebSignature(compact: response.json["access_token"]?.stringValue ?? "")
    return try JSONValue(parsing: token.payload)
  }

  @Test func `a password begins a grant that can be refreshed`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let form = [("grant_type", "password"), ("username", "ada"), ("password", "correct horse"), ("scope", "openid r")]
    let answer = try client.requestToken(form: form)
    #expect(answer.status == 200)
    #expect(answer.json["id_token"]?.stringValue != nil)
    #expect(try claims(answer)["sub"]?.stringValue == "ada")
    let refreshed = try RefreshingClient(simulation).refresh(answer.json["refresh_token"]?.stringValue ?? "")
    #expect(refreshed.json["scope"]?.stringValue == "openid r")
    #expect(simulation.grants.map(\.refreshCount) == [1])
    #expect(simulation.journal.entries().first?.tokenRequest?.grant == simulation.grants.first?.id)
    let wrong = try client.requestToken(form: [("grant_type", "password"), ("username", "ada"), ("password", "x")])
    #expect(wrong.json["error"]?.stringValue == "invalid_grant")
    #expect(simulation.grants.count == 1)
  }

  @Test(arguments: [GrantType.password, .refreshToken, .tokenExchange])
  func `each grant is challenged for a nonce and costs nothing before`(type: GrantType) throws {
    let (simulation, client) = try start(nonces: .once)
    defer { simulation.stop() }
    let token = try simulation.seedGrant().refreshToken
    let form: [(String, String)] =
      switch type {
      case .password: [("username", "ada"), ("password", "correct horse")]
      case .refreshToken: [("refresh_token", token)]
      default: [("subject_token", token), ("subject_token_type", Self.tokenType + "refresh_token")]
      }
    let request = [("grant_type", type.rawValue)] + form
    let challenge = try client.requestToken(form: request)
    #expect(challenge.json["error"]?.stringValue == "use_dpop_nonce")
    #expect(simulation.grants.map(\.rotation) == [0])
    #expect(try client.requestToken(nonce: challenge.nonce, form: request).json["token_type"]?.stringValue == "DPoP")
  }

  @Test func `an exchanged token is for the same person, another audience, and names who acts`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let seeded = try simulation.seedGrant()
    let subject = try RefreshingClient(simulation).refresh(seeded.refreshToken).json["access_token"]?.stringValue ?? ""
    let actor = try client.token()
    let form = [
      ("grant_type", Self.exchange), ("subject_token", subject),
      ("subject_token_type", Self.tokenType + "access_token"),
      ("actor_token", actor), ("actor_token_type", Self.tokenType + "access_token"),
      ("audience", "https://b.example"), ("scope", "email"),
    ]
    let answer = try client.requestToken(form: form)
    #expect(answer.json["issued_token_type"]?.stringValue == Self.tokenType + "access_token")
    #expect(answer.json["refresh_token"] == nil)
    #expect(answer.json["id_token"] == nil)
    let claims = try claims(answer)
    #expect(claims["sub"]?.stringValue == "user-1")
    #expect(claims["aud"]?.stringValue == "https://b.example")
    #expect(claims["act"]?["sub"]?.stringValue == "svc")
    #expect(claims["cnf"]?["jkt"]?.stringValue == client.key.thumbprint)
    let wider = try client.requestToken(form: form.dropLast() + [("scope", "admin")])
    #expect(wider.json["error"]?.stringValue == "invalid_scope")
    // An exchange of the exchanged token keeps the chain of actors.
    let second = try client.requestToken(
      form: form.map { $0.0 == "subject_token" ? ($0.0, answer.json["access_token"]?.stringValue ?? "") : $0 })
    #expect(try self.claims(second)["act"]?["act"]?["sub"]?.stringValue == "svc")
    simulation.revokeGrant(seeded.grant.id)
    #expect(try client.requestToken(form: form).json["error"]?.stringValue == "invalid_request")
    #expect(simulation.journal.entries().last?.verdict == .subjectInvalid)
  }

  @Test func `an exchange takes ID tokens of its own, and foreign tokens only where the settings say so`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    func ask(_ token: String, _ type: String, _ more: [(String, String)] = []) throws -> TestConnection.Response {
      try client.requestToken(
        form: [
          ("grant_type", Self.exchange), ("subject_token", token), ("subject_token_type", Self.tokenType + type),
        ] + more)
    }
    let seeded = try simulation.seedGrant()
    #expect(try claims(ask(seeded.idToken ?? "", "id_token"))["sub"]?.stringValue == "user-1")
    #expect(try ask("foreign", "access_token").status == 400)
    #expect(try ask(seeded.idToken ?? "", "id_token", [("actor_token", "x")]).status == 400)
    #expect(
      try ask(seeded.idToken ?? "", "id_token", [("requested_token_type", Self.tokenType + "saml2")]).status == 400)
    simulation.withSettings { $0.authorizationServer.acceptsAnySubject = true }
    let foreign = try JSONWebSignature.sign(
      payload: Array(#"{"sub":"k8s"}"#.utf8), type: "JWT", key: ProofKey.generate())
    #expect(try claims(ask(foreign, "jwt"))["sub"]?.stringValue == "k8s")
    #expect(try ask("opaque", "access_token").status == 200)
  }

  @Test func `a revoked refresh token takes its grant with it, an access token only itself`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let seeded = try simulation.seedGrant()
    let answer = try RefreshingClient(simulation, client).refresh(seeded.refreshToken)
    func revoke(_ token: String, _ authorization: String? = nil) throws -> Int {
      try client.send(
        simulation.authorizationServer, "POST", "/revoke",
        [
          "Authorization: \(authorization ?? client.basic("svc", "service-secret"))",
          "Content-Type: application/x-www-form-urlencoded",
        ],
        body: FormURLEncoded.encode([("token", token)])
      ).status
    }
    let access = try client.token()
    #expect(try revoke(access, client.basic("svc", "wrong")) == 401)
    #expect(try revoke("unknown") == 200)
    #expect(try revoke(access) == 200)
    #expect(try client.call(token: access).status == 401)
    #expect(try client.call(token: answer.json["access_token"]?.stringValue ?? "").status == 200)
    #expect(try revoke(answer.json["refresh_token"]?.stringValue ?? "") == 200)
    #expect(try client.call(token: answer.json["access_token"]?.stringValue ?? "").status == 401)
    #expect(simulation.grants.map(\.revocation) == [.client])
  }

  @Test func `userinfo tells of the person to who has a bound token and a proof with the nonce`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let seeded = try simulation.seedGrant()
    let token =
      try RefreshingClient(simulation, client).refresh(seeded.refreshToken).json["access_token"]?.stringValue ?? ""
    let server = simulation.authorizationServer
    func ask(_ scheme: String, nonce: String? = nil) throws -> TestConnection.Response {
      let proof = try client.proof("GET", "\(server.url)/userinfo", token: token, nonce: nonce)
      return try client.send(server, "GET", "/userinfo", ["Authorization: \(scheme) \(token)", "DPoP: \(proof)"])
    }
    simulation.nonceMode = .once
    let challenge = try ask("DPoP")
    #expect(challenge.status == 401)
    #expect(challenge.challenges.first?["error"] == "use_dpop_nonce")
    let answer = try ask("DPoP", nonce: challenge.nonce)
    #expect(answer.json["sub"]?.stringValue == "user-1")
    #expect(answer.json["email"]?.stringValue == "ada@example.com")
    #expect(try ask("Bearer").status == 401)
    #expect(try client.send(server, "GET", "/userinfo").status == 401)
  }

  @Test func `metadata names grants, client authentication, revocation and userinfo`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let metadata = try client.send(simulation.authorizationServer, "GET", "/.well-known/openid-configuration").json
    #expect(metadata["grant_types_supported"]?.stringArrayValue == GrantType.allCases.map(\.rawValue))
    #expect(metadata["revocation_endpoint"]?.stringValue == simulation.authorizationServer.url + "/revoke")
    #expect(metadata["userinfo_endpoint"]?.stringValue == simulation.authorizationServer.url + "/userinfo")
    #expect(metadata["token_endpoint_auth_methods_supported"]?.stringArrayValue?.contains("private_key_jwt") == true)
    #expect(
      metadata["token_endpoint_auth_signing_alg_values_supported"]?.stringArrayValue
        == ["ES256", "RS256", "PS256", "EdDSA", "HS256"])
  }
}
