import Cryptography
import EventLoop
import HTTPWire
import Testing

@testable import Simulators

@Suite struct AuthorizationServerTests {
  @Test func `metadata is the same at both well-known places and names what the server does`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let oauth = try client.send(simulation.authorizationServer, "GET", "/.well-known/oauth-authorization-server")
    let openid = try client.send(simulation.authorizationServer, "GET", "/.well-known/openid-configuration")
    #expect(oauth.body == openid.body)
    #expect(oauth.json["issuer"]?.stringValue == simulation.authorizationServer.url)
    #expect(oauth.json["token_endpoint"]?.stringValue == simulation.authorizationServer.url + "/token")
    #expect(oauth.json["dpop_signing_alg_values_supported"]?.stringArrayValue == ["ES256"])
  }

  @Test func `a token is signed by the published key and bound to the key of the proof`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let form = [("grant_type", "client_credentials"), ("audience", "https://api.example"), ("scope", "read write")]
    let response = try client.requestToken(form: form)
    #expect(response.status == 200)
    #expect(response.values("cache-control") == ["no-store"])
    #expect(response.json["token_type"]?.stringValue == "DPoP")
    #expect(response.json["expires_in"]?.int64Value == 300)
    #expect(response.json["scope"]?.stringValue == "read write")

    let jwks = try client.send(simulation.authorizationServer, "GET", "/jwks")
    let published = try #require(jwks.json["keys"]?.arrayValue?.first)
    let token = try JSONWebSignature(compact: response.json["access_token"]?.stringValue ?? "")
    try token.verify(with: JWK(json: published.serialised()), algorithms: [.es256])
    #expect(token.type == "at+jwt")
    #expect(token.keyID == published["kid"]?.stringValue)
    let claims = try JSONValue(parsing: token.payload)
    #expect(claims["cnf"]?["jkt"]?.stringValue == client.key.thumbprint)
    #expect(claims["aud"]?.stringValue == "https://api.example")
    #expect(claims["iss"]?.stringValue == simulation.authorizationServer.url)
    let lifetime = (claims["exp"]?.int64Value ?? 0) - (claims["iat"]?.int64Value ?? 0)
    #expect(lifetime == 300)
  }

  @Test(arguments: ["dpop", "DPOP"])
  func `token_type is spelt as the settings want it`(spelling: String) throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    simulation.withSettings { $0.authorizationServer.tokenTypeSpelling = spelling }
    #expect(try TestClient(simulation).requestToken().json["token_type"]?.stringValue == spelling)
  }

  @Test func `expires_in is a number, a string or absent, as the settings want it`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    simulation.withSettings { $0.authorizationServer.expiresIn = .string }
    #expect(try client.requestToken().json["expires_in"] == .string("300"))
    simulation.withSettings { $0.authorizationServer.expiresIn = .omitted }
    #expect(try client.requestToken().json["expires_in"] == nil)
  }

  @Test func `an opaque token works as a signed one does`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    simulation.withSettings { $0.authorizationServer.tokenFormat = .opaque }
    let client = TestClient(simulation)
    let token = try client.token()
    #expect(!token.contains("."))
    #expect(try client.call(token: token).status == 200)
  }

  @Test func `a client authenticates by the methods it is registered for and no other`() throws {
    let clients = [
      SimulatedClient(id: "public"), SimulatedClient(id: "both", secret: "s3cret"),
      SimulatedClient(id: "odd:id", secret: "a b&c", authentication: [.basic]),
    ]
    let simulation = try Simulation.start(.init(clients: clients))
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let grant = ("grant_type", "client_credentials")
    func status(_ form: [(String, String)], _ authorization: String?) throws -> Int {
      let fields = authorization.map { ["Authorization: \($0)"] } ?? []
      let proof = try client.proof("POST", "\(simulation.authorizationServer.url)/token")
      return try client.send(
        simulation.authorizationServer, "POST", "/token",
        fields + ["DPoP: \(proof)", "Content-Type: application/x-www-form-urlencoded"],
        body: FormURLEncoded.encode([grant] + form)
      ).status
    }
    #expect(try status([("client_id", "public")], nil) == 200)
    #expect(try status([("client_id", "both")], nil) == 401)
    #expect(try status([("client_id", "both"), ("client_secret", "s3cret")], nil) == 200)
    #expect(try status([("client_id", "both"), ("client_secret", "wrong")], nil) == 401)
    #expect(try status([], client.basic("both", "s3cret")) == 200)
    #expect(try status([("client_secret", "s3cret")], client.basic("both", "s3cret")) == 400)
    #expect(try status([], client.basic("odd%3Aid", "a+b%26c")) == 200)
    #expect(try status([], client.basic("nobody", "s3cret")) == 401)
    #expect(try status([], nil) == 401)
  }

  @Test func `a request that makes no sense is refused with the code of RFC 6749`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    simulation.withSettings {
      $0.authorizationServer.audiences = ["https://a.example"]
      $0.authorizationServer.scopes = ["read"]
    }
    let client = TestClient(simulation)
    let grant = ("grant_type", "client_credentials")
    func refusal(_ form: [(String, String)]) throws -> String? {
      try client.requestToken(form: form).json["error"]?.stringValue
    }
    let unsupported = try refusal([("grant_type", "implicit")])
    #expect(unsupported == "unsupported_grant_type")
    #expect(try refusal([grant, grant]) == "invalid_request")
    #expect(try refusal([grant, ("scope", "read admin")]) == "invalid_scope")
    #expect(try refusal([grant, ("resource", "https://b.example")]) == "invalid_target")
    #expect(try refusal([grant, ("resource", "https://a.example"), ("scope", "read")]) == nil)
  }

  @Test func `the token endpoint wants a proof for itself, without ath, made now, never seen before`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let url = "\(simulation.authorizationServer.url)/token"
    func verdict(_ proof: String) throws -> Verdict? {
      let response = try client.requestToken(proof: proof)
      #expect(response.status == 400)
      #expect(response.json["error"]?.stringValue == "invalid_dpop_proof")
      return simulation.journal.entries().last?.verdict
    }
    #expect(try verdict(client.proof("GET", url)) == .proofMethod)
    #expect(try verdict(client.proof("POST", url + "/")) == .proofURL)
    #expect(try verdict(client.proof("POST", url.replacing("127.0.0.1", with: "localhost"))) == .proofURL)
    #expect(try verdict(client.proof("POST", url, token: "x")) == .proofTokenHash)
    #expect(try verdict(client.proof("POST", url, at: TestClient.now - 70)) == .proofTime)
    #expect(try verdict(client.proof("POST", url, at: TestClient.now + 20)) == .proofTime)
    let good = try client.proof("POST", url)
    #expect(try client.requestToken(proof: good).status == 200)
    #expect(try verdict(good) == .proofReplayed)
    #expect(try client.requestToken(sendsProof: false).json["error"]?.stringValue == "invalid_dpop_proof")
  }

  @Test func `binding decides whether a token without a proof is a Bearer token`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    simulation.withSettings { $0.authorizationServer.binding = .optional }
    #expect(try client.requestToken(sendsProof: false).json["token_type"]?.stringValue == "Bearer")
    #expect(try client.requestToken().json["token_type"]?.stringValue == "DPoP")
    simulation.withSettings { $0.authorizationServer.binding = .ignored }
    #expect(try client.requestToken().json["token_type"]?.stringValue == "Bearer")
  }

  @Test func `equal seeds give equal keys, nonces and opaque tokens`() throws {
    var seen: Set<[String?]> = []
    for _ in 1...2 {
      var options = SimulationOptions(nonces: .once)
      options.seed = "fixed"
      options.settings.authorizationServer.tokenFormat = .opaque
      let simulation = try Simulation.start(options)
      defer { simulation.stop() }
      let client = TestClient(simulation)
      let challenge = try client.requestToken()
      let token = try client.requestToken(nonce: challenge.nonce).json["access_token"]?.stringValue
      let keys = try client.send(simulation.authorizationServer, "GET", "/jwks").text
      seen.insert([challenge.nonce, token, keys])
    }
    #expect(seen.count == 1)
    #expect(seen.first?.contains(nil) == false)
  }
}
