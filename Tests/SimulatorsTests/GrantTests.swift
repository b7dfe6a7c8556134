import Cryptography
import EventLoop
import HTTPWire
import Testing

@testable import Simulators

@Suite struct GrantTests {
  private func start(nonces: NonceMode = .off, public isPublic: Bool = false) throws -> (Simulation, RefreshingClient) {
    let clients = isPublic ? [SimulatedClient(id: "app")] : [SimulatedClient(id: "svc", secret: "service-secret")]
    let simulation = try Simulation.start(SimulationOptions(clients: clients, nonces: nonces))
    return (simulation, RefreshingClient(simulation))
  }

  @Test func `a refresh gives an access token that works, an ID token and the next refresh token`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let seeded = try simulation.seedGrant()
    #expect(seeded.refreshToken.count >= 32)
    let answer = try client.refresh(seeded.refreshToken)
    #expect(answer.status == 200)
    let next = try #require(answer.json["refresh_token"]?.stringValue)
    #expect(next != seeded.refreshToken)
    #expect(answer.json["scope"]?.stringValue == "openid profile email offline_access")
    #expect(try client.test.call(token: answer.json["access_token"]?.stringValue ?? "").status == 200)
    #expect(try client.refresh(next).status == 200)
    let grant = try #require(simulation.grant(seeded.grant.id))
    #expect(grant.rotation == 2)
    #expect(grant.refreshCount == 2)
    #expect(grant.isAlive)
  }

  @Test func `an ID token is signed by the published key and tells of the person and the session`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    var seed = GrantSeed()
    seed.sessionExpiryUnixSeconds = 2_000_000_000
    let text = try #require(try simulation.seedGrant(seed).idToken)
    let keys = try client.test.send(simulation.authorizationServer, "GET", "/jwks").json["keys"]?.arrayValue
    let token = try JSONWebSignature(compact: text)
    try token.verify(with: JWK(json: try #require(keys?.first).serialised()), algorithms: [.es256])
    let claims = try JSONValue(parsing: token.payload)
    #expect(claims["iss"]?.stringValue == simulation.authorizationServer.url)
    #expect(claims["aud"]?.stringValue == "svc")
    #expect(claims["sub"]?.stringValue == "user-1")
    #expect(claims["name"]?.stringValue == "Ada Example")
    #expect(claims["email"]?.stringValue == "ada@example.com")
    #expect(claims["picture"]?.stringValue == "https://example.com/ada.png")
    #expect(claims["session_expiry"]?.int64Value == 2_000_000_000)
    #expect(try #require(claims["exp"]?.int64Value) > (try #require(claims["iat"]?.int64Value)))
  }

  @Test func `a refresh token that comes again revokes its whole family, access tokens included`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let seeded = try simulation.seedGrant()
    let other = try simulation.seedGrant()
    let answer = try client.refresh(seeded.refreshToken)
    let reused = try client.refresh(seeded.refreshToken)
    #expect(reused.status == 400)
    #expect(reused.json["error"]?.stringValue == "invalid_grant")
    #expect(simulation.journal.entries().last?.verdict == .refreshReused)
    let grant = try #require(simulation.grant(seeded.grant.id))
    #expect(grant.reuseCount == 1)
    #expect(grant.revocation == .reuse)
    #expect(try client.refresh(answer.json["refresh_token"]?.stringValue ?? "").status == 400)
    #expect(simulation.journal.entries().last?.verdict == .grantRevoked)
    #expect(try client.test.call(token: answer.json["access_token"]?.stringValue ?? "").status == 401)
    #expect(try client.refresh(other.refreshToken).status == 200)
  }

  @Test func `within the overlap a used refresh token gives a further one of the same family`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.withSettings { $0.authorizationServer.refresh.overlapSeconds = 30 }
    let seeded = try simulation.seedGrant()
    let lost = try client.refresh(seeded.refreshToken)
    let again = try client.refresh(seeded.refreshToken)
    #expect(lost.status == 200)
    #expect(again.status == 200)
    #expect(simulation.grants.map(\.rotation) == [2])
    #expect(try client.refresh(again.json["refresh_token"]?.stringValue ?? "").status == 200)
    simulation.withSettings { $0.authorizationServer.server.clockOffsetSeconds = 31 }
    #expect(try client.refresh(seeded.refreshToken, at: TestClient.now + 31).status == 400)
    #expect(simulation.grants.map(\.revocation) == [.reuse])
  }

  @Test func `without rotation the token stays and the answer names none, or the same`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let seeded = try simulation.seedGrant()
    simulation.withSettings { $0.authorizationServer.refresh.rotation = .never }
    for _ in 1...2 {
      let answer = try client.refresh(seeded.refreshToken)
      #expect(answer.status == 200)
      #expect(answer.json["refresh_token"] == nil)
    }
    simulation.withSettings { $0.authorizationServer.refresh.rotation = .same }
    #expect(try client.refresh(seeded.refreshToken).json["refresh_token"]?.stringValue == seeded.refreshToken)
    #expect(simulation.grants.map(\.refreshCount) == [3])
    #expect(simulation.grants.map(\.rotation) == [0])
  }

  @Test func `a public client's token is bound to the key it was given with, or else to that of its first refresh`()
    throws
  {
    let (simulation, client) = try start(public: true)
    defer { simulation.stop() }
    let bound = try simulation.seedGrant(GrantSeed(jkt: ProofKey.generate().thumbprint))
    #expect(try client.refresh(bound.refreshToken).json["error"]?.stringValue == "invalid_grant")
    #expect(simulation.journal.entries().last?.verdict == .refreshBinding)
    #expect(simulation.grant(bound.grant.id)?.isAlive == true)
    let unbound = try simulation.seedGrant()
    let next = try client.refresh(unbound.refreshToken).json["refresh_token"]?.stringValue
    #expect(simulation.grant(unbound.grant.id)?.jkt == client.test.key.thumbprint)
    #expect(try RefreshingClient(simulation).refresh(next ?? "").status == 400)
    #expect(try client.refresh(next ?? "").status == 200)
    let made = try simulation.seedGrant(GrantSeed(makesKey: true))
    #expect(made.key?.thumbprint == made.grant.jkt)
  }

  @Test func `a scope or an audience that was not granted is refused and costs no token`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    var seed = GrantSeed()
    seed.scope = "openid read write"
    seed.audiences = ["https://a.example", "https://b.example"]
    let seeded = try simulation.seedGrant(seed)
    let admin = try client.refresh(seeded.refreshToken, [("scope", "read admin")])
    #expect(admin.json["error"]?.stringValue == "invalid_scope")
    let foreign = try client.refresh(seeded.refreshToken, [("audience", "https://c.example")])
    #expect(foreign.json["error"]?.stringValue == "invalid_target")
    let narrow = try client.refresh(seeded.refreshToken, [("scope", "read"), ("resource", "https://b.example")])
    #expect(narrow.json["scope"]?.stringValue == "read")
    #expect(narrow.json["id_token"] == nil)
    #expect(try claims(narrow)["aud"]?.stringValue == "https://b.example")
    let next = try #require(narrow.json["refresh_token"]?.stringValue)
    simulation.withSettings { $0.authorizationServer.ignoresUnknownAudience = true }
    let ignored = try client.refresh(next, [("audience", "https://c.example")])
    #expect(try claims(ignored)["aud"]?.stringValue == "https://a.example")
    #expect(ignored.json["scope"]?.stringValue == "openid read write")
  }

  @Test func `a refresh token ends with its lifetime, and is another client's never`() throws {
    let clients = [SimulatedClient(id: "svc", secret: "service-secret"), SimulatedClient(id: "other", secret: "x")]
    let simulation = try Simulation.start(SimulationOptions(clients: clients))
    defer { simulation.stop() }
    simulation.withSettings { $0.authorizationServer.refresh.lifetimeSeconds = 60 }
    let seeded = try simulation.seedGrant()
    let foreign = RefreshingClient(simulation, TestClient(simulation, id: "other", secret: "x"))
    #expect(try foreign.refresh(seeded.refreshToken).json["error"]?.stringValue == "invalid_grant")
    #expect(simulation.journal.entries().last?.verdict == .refreshClient)
    simulation.withSettings { $0.authorizationServer.server.clockOffsetSeconds = 60 }
    let late = try RefreshingClient(simulation).refresh(seeded.refreshToken, at: TestClient.now + 60)
    #expect(late.json["error"]?.stringValue == "invalid_grant")
    #expect(simulation.journal.entries().last?.verdict == .refreshExpired)
    #expect(try RefreshingClient(simulation).refresh("unknown", at: TestClient.now + 60).status == 400)
    #expect(simulation.journal.entries().last?.verdict == .refreshUnknown)
  }

  @Test func `a nonce challenge leaves the token alone, but at the server that uses it up first`() throws {
    let (simulation, client) = try start(nonces: .once)
    defer { simulation.stop() }
    let seeded = try simulation.seedGrant()
    let challenge = try client.refresh(seeded.refreshToken)
    #expect(challenge.json["error"]?.stringValue == "use_dpop_nonce")
    #expect(simulation.grants.map(\.rotation) == [0])
    let answer = try client.refresh(seeded.refreshToken, nonce: challenge.nonce)
    #expect(answer.status == 200)
    simulation.withSettings { $0.authorizationServer.refresh.isConsumedBeforeNonce = true }
    simulation.expireNonces()
    let next = try #require(answer.json["refresh_token"]?.stringValue)
    let second = try client.refresh(next)
    #expect(second.json["error"]?.stringValue == "use_dpop_nonce")
    #expect(try client.refresh(next, nonce: second.nonce).json["error"]?.stringValue == "invalid_grant")
    #expect(simulation.grants.map(\.revocation) == [.reuse])
    let fresh = try simulation.seedGrant()
    #expect(try client.refresh(fresh.refreshToken, nonce: second.nonce).status == 200)
  }

  @Test(arguments: AuthorizationServerSettings.IDTokenPresence.allCases)
  func `the settings say which answers hold an ID token`(presence: AuthorizationServerSettings.IDTokenPresence) throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.withSettings { $0.authorizationServer.idToken = presence }
    let seeded = try simulation.seedGrant()
    #expect((seeded.idToken != nil) == (presence != .never))
    #expect((try client.refresh(seeded.refreshToken).json["id_token"] != nil) == (presence == .always))
  }

  @Test func `an answer that is lost after a refresh leaves the token used`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let seeded = try simulation.seedGrant()
    simulation.faults.add(.drop(.after, .close), next: 1, on: .token)
    #expect(throws: TestConnection.Failure.closed) { try client.refresh(seeded.refreshToken) }
    #expect(simulation.grants.map(\.rotation) == [1])
    #expect(try client.refresh(seeded.refreshToken).status == 400)
  }

  @Test
  func `a rule for refreshes that were made loses the answer of one, and leaves a challenge and other grants alone`()
    throws
  {
    let (simulation, client) = try start(nonces: .once)
    defer { simulation.stop() }
    let (kept, lost) = (try simulation.seedGrant(), try simulation.seedGrant())
    simulation.faults.add(.drop(.after, .reset), next: 1, on: .refreshed(lost.grant.id))
    let nonce = try client.refresh(lost.refreshToken).nonce
    #expect(try client.refresh(kept.refreshToken, nonce: nonce).status == 200)
    #expect(throws: TestConnection.Failure.self) { try client.refresh(lost.refreshToken, nonce: nonce) }
    #expect(simulation.grants.map(\.rotation) == [1, 1])
    #expect(simulation.journal.entries().map(\.faults) == [[], [], ["drop"]])
    #expect(simulation.faults.rules.isEmpty)
  }

  @Test func `a refresh that was made can be answered with something else`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.answer(.text(502, "Bad gateway.")), next: 1, on: .refreshed())
    #expect(try client.refresh(simulation.seedGrant().refreshToken).status == 502)
    #expect(simulation.grants.map(\.rotation) == [1])
    #expect(simulation.journal.entries().first?.verdict == .accepted)
  }

  @Test func `a refresh held after it was made is let go when its client dies`() async throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.hold(.after, gate: "answer"), next: 1, on: .refreshed())
    let seeded = try simulation.seedGrant()
    do {
      let held = try TestConnection(port: simulation.authorizationServer.port)
      try held.write(client.request(seeded.refreshToken))
      while simulation.faults.gates.waiting(at: "answer") == 0 { await Task.yield() }
    }  // the connection is closed here
    #expect(await simulation.journal.wait { $0.first?.isFinished == true })
    #expect(simulation.journal.entries().map(\.status) == [nil])
    #expect(simulation.faults.gates.waiting(at: "answer") == 0)
    #expect(simulation.grants.map(\.rotation) == [1])
  }

  @Test func `the journal tells grant type, grant and number of the presented token`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let seeded = try simulation.seedGrant()
    let next = try client.refresh(seeded.refreshToken).json["refresh_token"]?.stringValue
    _ = try client.refresh(next ?? "")
    _ = try client.refresh(seeded.refreshToken)
    _ = try client.test.requestToken()
    let records = simulation.journal.entries().map(\.tokenRequest)
    #expect(
      records == [0, 1, 0].map {
        TokenRequestRecord(grantType: .refreshToken, clientID: "svc", grant: seeded.grant.id, rotation: $0)
      } + [TokenRequestRecord(grantType: .clientCredentials, clientID: "svc")])
    let counts = JournalJSON.counts(simulation.journal.entries(), dropped: 0)["as"]?["grant_types"]
    #expect(counts?["refresh_token"]?["requests"]?.int64Value == 3)
    #expect(counts?["refresh_token"]?["accepted"]?.int64Value == 2)
    #expect(counts?["client_credentials"]?["accepted"]?.int64Value == 1)
  }

  private func claims(_ response: TestConnection.Response) throws -> JSONValue {
    let token = try JSONWebSignature(compact: response.json["access_token"]?.stringValue ?? "")
    return try JSONValue(parsing: token.payload)
  }
}

/// A test client that refreshes, with its secret if it has one.
struct RefreshingClient {
  let test: TestClient

  init(_ simulation: Simulation, _ client: TestClient? = nil) { test = client ?? TestClient(simulation) }

  func refresh(
    _ token: String, _ more: [(String, String)] = [], nonce: String? = nil, at issuedAt: Int64 = TestClient.now
  ) throws -> TestConnection.Response {
    let form = form(token) + more
    let client = test.simulation.settings.authorizationServer.clients.first
    if client?.secret != nil { return try test.requestToken(nonce: nonce, form: form, at: issuedAt) }
    let server = test.simulation.authorizationServer
    let proof = try test.proof("POST", "\(server.url)/token", nonce: nonce, at: issuedAt)
    let fields = ["DPoP: \(proof)", "Content-Type: application/x-www-form-urlencoded"]
    return try test.send(
      server, "POST", "/token", fields, body: FormURLEncoded.encode(form + [("client_id", client?.id ?? "")]))
  }

  /// The bytes of a refresh.
  func request(_ token: String) throws -> String {
    let server = test.simulation.authorizationServer
    let body = FormURLEncoded.encode(form(token))
    let fields = [
      "Authorization: " + test.basic(test.id, test.secret), "DPoP: \(try test.proof("POST", "\(server.url)/token"))",
      "Content-Type: application/x-www-form-urlencoded",
    ]
    return TestClient.head(server, "POST", "/token", fields, bodyBytes: body.count)
      + String(decoding: body, as: UTF8.self)
  }

  private func form(_ token: String) -> [(String, String)] {
    [("grant_type", "refresh_token"), ("refresh_token", token)]
  }
}
