import Cryptography
import HTTPWire
import Testing

@testable import Simulators

@Suite struct AssertionTests {
  private static let secret = "a-secret-of-thirty-two-characters"
  private static let jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  private let key = ProofKey.generate()

  private func start() throws -> (Simulation, TestClient) {
    let clients = [
      SimulatedClient(id: "svc", keys: [ProofKey.generate().publicJWK, key.publicJWK]),
      SimulatedClient(id: "shared", secret: Self.secret, authentication: [.secretJWT]),
      SimulatedClient(id: "basic", secret: "service-secret"),
    ]
    let simulation = try Simulation.start(SimulationOptions(clients: clients))
    return (simulation, TestClient(simulation))
  }

  /// Claims as a good client makes them, with changes; nil takes one away.
  private func claims(_ simulation: Simulation, _ id: String, _ changes: [(String, JSONValue?)] = []) -> [UInt8] {
    let members: [(String, JSONValue)] = [
      ("iss", .string(id)), ("sub", .string(id)), ("aud", .string("\(simulation.authorizationServer.url)/token")),
      ("iat", .integer(TestClient.now)), ("exp", .integer(TestClient.now + 60)),
      ("jti", .string(Base64URL.encode(SecureRandom.bytes(8)))),
    ]
    let kept = members.filter { name, _ in !changes.contains { $0.0 == name } }
    return JSONValue.object(kept + changes.compactMap { name, value in value.map { (name, $0) } }).serialised()
  }

  private func signed(_ payload: [UInt8], by signer: ProofKey? = nil) throws -> String {
    try JSONWebSignature.sign(payload: payload, type: "JWT", key: signer ?? key)
  }

  private func authenticate(
    _ client: TestClient, _ assertion: String, more: [(String, String)] = [("grant_type", "client_credentials")]
  ) throws -> TestConnection.Response {
    let server = client.simulation.authorizationServer
    let form =
      more + [
        ("client_assertion_type", ClientAuthentication.assertionType), ("client_assertion", assertion),
      ]
    let fields = [
      "DPoP: \(try client.proof("POST", "\(server.url)/token"))", "Content-Type: application/x-www-form-urlencoded",
    ]
    return try client.send(server, "POST", "/token", fields, body: FormURLEncoded.encode(form))
  }

  @Test func `a client proves itself by an assertion that any of its keys signed, once`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let assertion = try signed(claims(simulation, "svc"))
    #expect(try authenticate(client, assertion).status == 200)
    let again = try authenticate(client, assertion)
    #expect(again.status == 401)
    #expect(again.json["error"]?.stringValue == "invalid_client")
    #expect(simulation.journal.entries().last?.detail == "the assertion's jti was used before")
    let forIssuer = try signed(claims(simulation, "svc", [("aud", .strings([simulation.authorizationServer.url]))]))
    #expect(try authenticate(client, forIssuer).status == 200)
  }

  @Test func `a client proves itself by an assertion under its secret`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    #expect(try authenticate(client, hmac(claims(simulation, "shared"), Self.secret)).status == 200)
    #expect(try authenticate(client, hmac(claims(simulation, "shared"), "another-secret")).status == 401)
    // What is public must never serve as the secret. RFC 8725 §2.1
    #expect(try authenticate(client, hmac(claims(simulation, "svc"), key.publicJWK.json)).status == 401)
    #expect(try authenticate(client, hmac(claims(simulation, "basic"), "service-secret")).status == 401)
  }

  @Test(arguments: ["aud", "exp", "jti", "iss", "sub", "iat", "far", "key"])
  func `an assertion with something wrong is refused`(wrong: String) throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let changes: [(String, JSONValue?)] =
      switch wrong {
      case "aud": [("aud", "https://other.example")]
      case "exp": [("exp", .integer(TestClient.now - 1))]
      case "jti": [("jti", nil)]
      case "iss": [("iss", "other")]
      case "sub": [("sub", nil)]
      case "iat": [("iat", .integer(TestClient.now + 120))]
      case "far": [("exp", .integer(TestClient.now + 7200))]
      default: []
      }
    let signer = wrong == "key" ? ProofKey.generate() : nil
    let refused = try authenticate(client, signed(claims(simulation, "svc", changes), by: signer))
    #expect(refused.json["error"]?.stringValue == "invalid_client")
    #expect(try authenticate(client, "not a token").status == 401)
    #expect(try authenticate(client, signed(claims(simulation, "svc"))).status == 200)
  }

  @Test func `an assertion beside a secret is two authentications`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let form = [("grant_type", "client_credentials"), ("client_secret", "x")]
    let refused = try authenticate(client, signed(claims(simulation, "svc")), more: form)
    #expect(refused.json["error"]?.stringValue == "invalid_request")
  }

  @Test func `an assertion stands for a person if a known issuer or the client signed it`() throws {
    let (simulation, _) = try start()
    defer { simulation.stop() }
    let issuer = ProofKey.generate()
    simulation.withSettings {
      $0.authorizationServer.assertionIssuers = [
        AssertionIssuer(issuer: "https://idp.example", keys: [issuer.publicJWK])
      ]
    }
    let client = TestClient(simulation, id: "basic", secret: "service-secret")
    func ask(_ assertion: String, _ more: [(String, String)] = []) throws -> TestConnection.Response {
      try client.requestToken(form: [("grant_type", Self.jwtBearer), ("assertion", assertion)] + more)
    }
    let subject: [(String, JSONValue?)] = [("iss", "https://idp.example"), ("sub", "ada"), ("jti", nil)]
    let answer = try ask(signed(claims(simulation, "", subject), by: issuer), [("scope", "read")])
    #expect(answer.status == 200)
    #expect(answer.json["refresh_token"] == nil)
    let token = try JSONWebSignature(compact: answer.json["access_token"]?.stringValue ?? "")
    #expect(try JSONValue(parsing: token.payload)["sub"]?.stringValue == "ada")
    #expect(try ask(signed(claims(simulation, "", subject))).json["error"]?.stringValue == "invalid_grant")
    #expect(simulation.journal.entries().last?.verdict == .assertionInvalid)
    let own = hmac(claims(simulation, "basic", [("sub", "bob")]), "service-secret")
    #expect(try ask(own).status == 200)
    #expect(try ask(own).json["error"]?.stringValue == "invalid_grant")
    #expect(simulation.journal.entries().last?.tokenRequest?.grantType == .jwtBearer)
  }

  private func hmac(_ payload: [UInt8], _ secret: String) -> String {
    let input = Base64URL.encode(#"{"alg":"HS256","typ":"JWT"}"#.utf8) + "." + Base64URL.encode(payload)
    let code = Array(input.utf8).withUnsafeBytes { HMACSHA256.authenticate($0, key: Secret(utf8: secret)) }
    return input + "." + Base64URL.encode(code)
  }
}
