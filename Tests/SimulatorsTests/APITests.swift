import Cryptography
import HTTPWire
import Testing

@testable import Simulators

@Suite struct APITests {
  @Test func `echo tells what arrived, in order, and never a token`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    let response = try client.call(
      "PUT", "/echo/a%2Fb?x=1", token: token, body: Array("hello".utf8), fields: ["X-One: 1", "x-two: 2"])
    #expect(response.status == 200)
    let echo = response.json
    #expect(echo["method"]?.stringValue == "PUT")
    #expect(echo["target"]?.stringValue == "/echo/a%2Fb?x=1")
    #expect(
      echo["headers"]?.stringArrayValue == ["Host", "Authorization", "DPoP", "X-One", "x-two", "Content-Length"])
    #expect(echo["auth_scheme"]?.stringValue == "DPoP")
    #expect(echo["jkt"]?.stringValue == client.key.thumbprint)
    #expect(echo["proof"]?["htm"]?.stringValue == "PUT")
    #expect(echo["proof"]?["htu"]?.stringValue == simulation.api.url + "/echo/a%2Fb")
    #expect(echo["body_length"]?.int64Value == 5)
    #expect(
      echo["body_sha256"]?.stringValue == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
    #expect(!response.text.contains(token))
  }

  @Test func `the API refuses each proof that is wrong in one way, and says which`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    let url = simulation.api.url + "/echo"
    func verdict(_ proof: [String], authorization: String? = nil) throws -> Verdict? {
      let fields = ["Authorization: " + (authorization ?? "DPoP \(token)")] + proof.map { "DPoP: \($0)" }
      let response = try client.send(simulation.api, "GET", "/echo", fields)
      #expect(response.status == 401)
      let challenge = response.challenges.first
      #expect(challenge?.scheme == "DPoP")
      #expect(challenge?["algs"] == "ES256")
      return simulation.journal.entries().last?.verdict
    }
    let good = try client.proof("GET", url, token: token)
    #expect(try verdict([]) == .proofMissing)
    #expect(try verdict([good, good]) == .proofRepeated)
    #expect(try verdict(["not.a.proof"]) == .proofMalformed)
    #expect(try verdict([good + "="]) == .proofMalformed)
    #expect(try verdict([client.proof("POST", url, token: token)]) == .proofMethod)
    #expect(try verdict([client.proof("get", url, token: token)]) == .proofMethod)
    #expect(try verdict([client.proof("GET", url + "/", token: token)]) == .proofURL)
    #expect(try verdict([client.proof("GET", url)]) == .proofTokenHash)
    #expect(try verdict([client.proof("GET", url, token: token + "x")]) == .proofTokenHash)
    #expect(try verdict([client.proof("GET", url, token: token, at: TestClient.now - 70)]) == .proofTime)
    let other = TestClient(simulation)
    #expect(try verdict([other.proof("GET", url, token: token)]) == .tokenBinding)
    #expect(try verdict([good], authorization: "Bearer \(token)") == .schemeWrong)
    #expect(try verdict([good], authorization: "dpop \(token)") == .schemeWrong)
  }

  @Test func `a proof of the wrong type, algorithm, key or signature is refused`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    let claims = try JSONWebSignature(
      compact: client.proof("GET", simulation.api.url + "/echo", token: token)
    ).payload
    func verdict(_ header: String, signedBy key: ProofKey, claims: [UInt8] = claims) throws -> Verdict? {
      let proof = try JSONWebSignature.sign(header: Array(header.utf8), payload: claims, key: key)
      _ = try client.send(
        simulation.api, "GET", "/echo", ["Authorization: DPoP \(token)", "DPoP: \(proof)"])
      return simulation.journal.entries().last?.verdict
    }
    let jwk = client.key.publicJWK.json
    let privateJWK = jwk.dropLast() + #","d":"AAAA"}"#
    #expect(try verdict(#"{"typ":"JWT","alg":"ES256","jwk":\#(jwk)}"#, signedBy: client.key) == .proofType)
    #expect(try verdict(#"{"typ":"DPoP+JWT","alg":"ES256","jwk":\#(jwk)}"#, signedBy: client.key) == .proofType)
    #expect(try verdict(#"{"typ":"dpop+jwt","alg":"none","jwk":\#(jwk)}"#, signedBy: client.key) == .proofAlgorithm)
    #expect(try verdict(#"{"typ":"dpop+jwt","alg":"HS256","jwk":\#(jwk)}"#, signedBy: client.key) == .proofAlgorithm)
    #expect(try verdict(#"{"typ":"dpop+jwt","alg":"RS256","jwk":\#(jwk)}"#, signedBy: client.key) == .proofAlgorithm)
    #expect(try verdict(#"{"typ":"dpop+jwt","alg":"ES256"}"#, signedBy: client.key) == .proofKey)
    #expect(try verdict(#"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(privateJWK)}"#, signedBy: client.key) == .proofKey)
    let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(jwk)}"#
    #expect(try verdict(header, signedBy: .generate()) == .proofSignature)
    let text = String(decoding: claims, as: UTF8.self)
    let float = text.replacing(/"iat":[0-9]+/) { "\($0.output).5" }
    #expect(float != text)
    #expect(try verdict(header, signedBy: client.key, claims: Array(float.utf8)) == .proofClaims)
    #expect(try verdict(header, signedBy: client.key, claims: Array("[]".utf8)) == .proofMalformed)
    #expect(try verdict(header, signedBy: client.key) == .accepted)
    #expect(try verdict(header, signedBy: client.key) == .proofReplayed)
  }

  @Test func `unknown, revoked and expired tokens and those for others are invalid`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    func error(_ token: String) throws -> [String?] {
      let response = try client.call(token: token)
      return [response.challenges.first?["error"], simulation.journal.entries().last?.verdict?.rawValue]
    }
    let token = try client.token()
    #expect(try error("unknown") == ["invalid_token", "token_unknown"])
    simulation.withSettings { $0.api.server.clockOffsetSeconds = 299 }
    #expect(try client.call(token: token, at: TestClient.now + 299).status == 200)
    simulation.withSettings { $0.api.server.clockOffsetSeconds = 301 }
    #expect(try client.call(token: token, at: TestClient.now + 301).challenges.first?["error"] == "invalid_token")
    simulation.withSettings { $0.api.server.clockOffsetSeconds = 0 }
    simulation.revokeTokens()
    #expect(try error(token) == ["invalid_token", "token_revoked"])
    let foreign = try client.token(form: [("grant_type", "client_credentials"), ("audience", "https://b.example")])
    #expect(try error(foreign) == ["invalid_token", "token_audience"])
  }

  @Test func `a clock that is off shows in Date and in the judgement of iat`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    simulation.withSettings { $0.api.server.clockOffsetSeconds = 90 }
    let refused = try client.call(token: token)
    #expect(refused.status == 401)
    let date = try #require(refused.values("date").first)
    let offset = try #require(HTTPDate.parse(date, nowUnixSeconds: TestClient.now)) - TestClient.now
    #expect((89...91).contains(offset))
    #expect(try client.call(token: token, at: TestClient.now + offset).status == 200)
  }

  @Test func `static credentials are checked in their place`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    func answer(_ target: String, _ fields: [String] = []) throws -> [String] {
      let response = try client.send(simulation.api, "GET", target, fields)
      return ["\(response.status)"] + response.challenges.map(\.scheme)
    }
    simulation.withSettings { $0.api.access = .none }
    #expect(try answer("/echo") == ["200"])
    simulation.withSettings { $0.api.access = .bearer(tokens: ["t1"]) }
    #expect(try answer("/echo") == ["401", "Bearer"])
    #expect(try answer("/echo", ["Authorization: Bearer t1"]) == ["200"])
    #expect(try answer("/echo", ["Authorization: Bearer t2"]) == ["401", "Bearer"])
    #expect(try answer("/echo", ["Authorization: Bearer t1", "Authorization: Bearer t1"]) == ["400", "Bearer"])
    simulation.withSettings { $0.api.access = .basic(username: "u", password: "p:w") }
    #expect(try answer("/echo", ["Authorization: \(client.basic("u", "p:w"))"]) == ["200"])
    #expect(try answer("/echo", ["Authorization: \(client.basic("u", "no"))"]) == ["401", "Basic"])
    simulation.withSettings { $0.api.access = .field(name: "X-Api-Key", value: "k1") }
    #expect(try answer("/echo", ["x-api-key: k1"]) == ["200"])
    #expect(try answer("/echo", ["x-api-key: k2"]) == ["401"])
    simulation.withSettings { $0.api.access = .query(name: "key", value: "a b") }
    #expect(try answer("/echo?x=1&key=a%20b") == ["200"])
    #expect(try answer("/echo?key=wrong") == ["401"])
    let echo = try client.send(simulation.api, "GET", "/echo?x=1&key=a%20b").json
    #expect(echo["target"]?.stringValue == "/echo?x=1&key=[hidden]")
  }

  @Test func `the other resources do what their names say`() throws {
    var options = SimulationOptions()
    options.settings.api.access = .none
    let simulation = try Simulation.start(options)
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let bytes = try client.send(simulation.api, "GET", "/bytes/1000000")
    #expect(bytes.body == (0..<1_000_000).map { UInt8($0 % 251) })
    let chunked = try client.send(simulation.api, "GET", "/bytes/100000?encoding=chunked")
    #expect(chunked.values("transfer-encoding") == ["chunked"])
    #expect(chunked.body == (0..<100_000).map { UInt8($0 % 251) })
    let delimited = try client.send(simulation.api, "GET", "/bytes/1000?encoding=close")
    #expect(delimited.values("connection") == ["close"])
    #expect(delimited.body.count == 1000)
    let head = try client.send(simulation.api, "HEAD", "/bytes/77")
    #expect(head.values("content-length") == ["77"])
    let upload = try client.send(simulation.api, "POST", "/upload", body: Array(repeating: 7, count: 300_000))
    #expect(upload.json["body_length"]?.int64Value == 300_000)
    #expect(
      upload.json["body_sha256"]?.stringValue
        == ReceivedBody(byteCount: 0, digest: SHA256.hash(Array(repeating: 7, count: 300_000))).hexDigest)
    #expect(try client.send(simulation.api, "GET", "/status/418").status == 418)
    let moved = try client.send(simulation.api, "GET", "/status/302?location=http%3A%2F%2Fother%2F")
    #expect(moved.values("location") == ["http://other/"])
    #expect(try client.send(simulation.api, "GET", "/slow?ms=1").status == 200)
    let stream = try client.send(simulation.api, "GET", "/stream?events=2&ms=1")
    #expect(stream.text == "id: 0\ndata: event 0\n\nid: 1\ndata: event 1\n\n")
    #expect(try client.send(simulation.api, "GET", "/nothing").status == 404)
    #expect(try client.send(simulation.api, "GET", "/scope/admin").status == 403)
  }

  @Test func `an API behind a proxy expects its public URL in htu`() throws {
    var options = SimulationOptions()
    options.settings.api.server.externalURL = "https://api.example/base"
    let simulation = try Simulation.start(options)
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    #expect(try client.call(token: token).challenges.first?["error"] == "invalid_dpop_proof")
    let proof = try client.proof("GET", "https://api.example/base/echo", token: token)
    let fields = ["Authorization: DPoP \(token)", "DPoP: \(proof)"]
    #expect(try client.send(simulation.api, "GET", "/echo", fields).status == 200)
  }

  @Test func `a Host that is not the server's is misdirected`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let connection = try TestConnection(port: simulation.api.port)
    try connection.write("GET /echo HTTP/1.1\r\nHost: api.example\r\n\r\n")
    #expect(try connection.read().status == 421)
    #expect(simulation.journal.entries().last?.verdict == .hostWrong)
  }
}
