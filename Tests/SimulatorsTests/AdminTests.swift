import Cryptography
import HTTPWire
import Testing

@testable import Simulators

@Suite struct AdminTests {
  private func start(redacts: Bool = false) throws -> (Simulation, Admin) {
    var options = SimulationOptions()
    options.adminPort = 0
    options.redactsJournal = redacts
    options.settings.api.access = .none
    let simulation = try Simulation.start(options)
    return (simulation, Admin(port: try #require(simulation.adminPort)))
  }

  /// What `curl` would do.
  struct Admin {
    let port: UInt16

    func send(
      _ method: String, _ target: String, _ body: String = "", fields: [String] = [], host: String? = nil
    ) throws -> TestConnection.Response {
      let connection = try TestConnection(port: port)
      let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")"] + fields
      try connection.write(
        (lines + ["Content-Length: \(body.utf8.count)"]).joined(separator: "\r\n") + "\r\n\r\n" + body)
      return try connection.read(method: method)
    }
  }

  @Test func `the root names the servers and the operations`() throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let root = try admin.send("GET", "/").json
    #expect(root["authorization_server"]?.stringValue == simulation.authorizationServer.url)
    #expect(root["api"]?.stringValue == simulation.api.url)
    for operation in root["operations"]?.stringArrayValue ?? [] {
      let parts = operation.split(separator: " ").map(String.init)
      let target = String(parts[1].prefix { $0 != "?" }).replacing("RULE", with: "1").replacing("NAME", with: "x")
        .replacing("GRANT", with: "1")
      #expect(try admin.send(parts[0], target, "{}").status != 404, "\(operation)")
    }
  }

  @Test func `settings that are shown can be set, and are then the same`() throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let shown = try admin.send("GET", "/settings")
    let set = try admin.send("PATCH", "/settings", shown.text)
    #expect(set.status == 200)
    #expect(set.json == shown.json)
  }

  @Test func `every setting reaches its place`() throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let key = ProofKey.generate().publicJWK
    let change = """
      {"authorization_server": {"nonce": {"mode": "rotate", "previous_accepted": 3, "lifetime_seconds": 9,
       "per_key": true, "challenge": {"status": 401, "nonce_fields": "two", "odd_case": true}},
       "clients": [{"id": "a", "secret": "b", "authentication": ["client_secret_post"]}, {"id": "c"},
       {"id": "d", "keys": [\(key.json)]}],
       "binding": "optional", "token_format": "opaque", "token_type": "dPoP", "token_lifetime_seconds": 7,
       "expires_in": "string", "audiences": ["x"], "scopes": ["y"], "audience_ignored": true,
       "refresh_rotation": "never", "refresh_overlap_seconds": 30, "refresh_lifetime_seconds": 90,
       "consumes_refresh_before_nonce": true, "id_token": "first", "users": [{"username": "u", "password": "p"}],
       "assertion_issuers": [{"issuer": "i", "keys": [\(key.json)]}], "accept_any_subject": true},
       "api": {"nonce": {"mode": "once", "challenge": {"place": "both", "bearer": "line-after"}},
       "clock_offset_seconds": -90, "proof_age_seconds_max": 10, "proof_lead_seconds_max": 1, "encoding": "chunked",
       "external_url": "https://e", "hosts": ["h"], "access": {"kind": "header", "name": "K", "value": "v"},
       "audiences": ["z"], "invalid_token": {"next": 2, "challenge": "bare"}, "rejection": "early-read",
       "judges_token_first": true}}
      """
    #expect(try admin.send("PATCH", "/settings", change).status == 200)
    let server = simulation.settings.authorizationServer
    #expect(server.server.nonce.mode == .rotate)
    #expect(server.server.nonce.previousAccepted == 3)
    #expect(server.server.nonce.lifetimeSeconds == 9)
    #expect(server.server.nonce.isPerKey)
    #expect(server.server.nonce.challenge.status == 401)
    #expect(server.server.nonce.challenge.nonceFields == .two)
    #expect(server.server.nonce.challenge.hasOddCase)
    #expect(
      server.clients == [
        SimulatedClient(id: "a", secret: "b", authentication: [.post]), SimulatedClient(id: "c"),
        SimulatedClient(id: "d", keys: [key], authentication: [.privateKeyJWT]),
      ])
    #expect(server.binding == .optional)
    #expect(server.tokenFormat == .opaque)
    #expect(server.tokenTypeSpelling == "dPoP")
    #expect(server.tokenLifetimeSeconds == 7)
    #expect(server.expiresIn == .string)
    #expect(server.audiences == ["x"])
    #expect(server.scopes == ["y"])
    #expect(server.ignoresUnknownAudience)
    #expect(server.refresh.rotation == .never)
    #expect(server.refresh.overlapSeconds == 30)
    #expect(server.refresh.lifetimeSeconds == 90)
    #expect(server.refresh.isConsumedBeforeNonce)
    #expect(server.idToken == .first)
    #expect(server.users == [SimulatedUser(username: "u", password: "p")])
    #expect(server.assertionIssuers == [AssertionIssuer(issuer: "i", keys: [key])])
    #expect(server.acceptsAnySubject)
    let api = simulation.settings.api
    #expect(api.server.nonce.mode == .once)
    #expect(api.server.nonce.challenge.place == .both)
    #expect(api.server.nonce.challenge.bearer == .afterInOwnLine)
    #expect(api.server.clockOffsetSeconds == -90)
    #expect(api.server.proofAgeSecondsMax == 10)
    #expect(api.server.proofLeadSecondsMax == 1)
    #expect(api.server.encoding == .chunked)
    #expect(api.server.externalURL == "https://e")
    #expect(api.server.hosts == ["h"])
    #expect(api.access == .field(name: "K", value: "v"))
    #expect(api.audiences == ["z"])
    #expect(api.invalidToken == InvalidToken(remaining: 2, challenge: .bare))
    #expect(api.rejection == .earlyThenRead)
    #expect(api.judgesTokenFirst)
    #expect(try admin.send("POST", "/reset").status == 204)
    #expect(simulation.settings.api.access == .none)
    #expect(simulation.nonceMode == .off)
  }

  @Test(arguments: [
    ("not json", "the body must be JSON"), ("[]", "settings must be an object"),
    (#"{"api": {"nonces": {}}}"#, #"settings.api has no member "nonces""#),
    (#"{"api": {"nonce": {"mode": "sometimes"}}}"#, "settings.api.nonce.mode must be one of: off"),
    (#"{"api": {"rejection": "early-close", "access": {"kind": "basic"}}}"#, "settings.api.access.username is needed"),
    (#"{"api": {"access": {"kind": "none", "name": "x"}}}"#, #"has no member "name""#),
    (#"{"authorization_server": {"token_lifetime_seconds": -1}}"#, "must be a number from 0"),
    (#"{"authorization_server": {"clients": [{"id": "a", "keys": [{"kty": "oct"}]}]}}"#, "keys: not a usable key"),
    (#"{"authorization_server": {"users": [{"username": "a"}]}}"#, "users.password is needed"),
    (#"{"authorization_server": {"clients": [{"id": "a", "authentication": ["x"]}]}}"#, "must be a list of: none"),
  ])
  func `a mistake in the settings changes nothing and says where it is`(change: String, problem: String) throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let before = try admin.send("GET", "/settings").text
    let response = try admin.send("PATCH", "/settings", change)
    #expect(response.status == 400)
    #expect(response.json["error"]?.stringValue?.contains(problem) == true, "\(response.text)")
    #expect(try admin.send("GET", "/settings").text == before)
  }

  @Test func `every kind of fault can be written in JSON`() throws {
    let cases: [(String, Fault)] = [
      (#"{"fault": "pass"}"#, .pass),
      (#"{"fault": "delay", "at": "after", "ms": 5}"#, .delay(.after, milliseconds: 5)),
      (#"{"fault": "hold", "gate": "g"}"#, .hold(.before, gate: "g")),
      (#"{"fault": "drop", "at": "head", "ending": "reset"}"#, .drop(.head, .reset)),
      (
        #"{"fault": "answer", "status": 429, "fields": [["Retry-After", "1"]], "body": "no", "closes": true}"#,
        .answer(
          Answer(
            status: 429, fields: [HTTPField(name: "Retry-After", value: "1")], body: .bytes(Array("no".utf8)),
            closes: true))
      ),
      (
        #"{"fault": "answer", "status": 200, "body_base64": "AAE=", "encoding": "close", "trailers": [["A", "b"]]}"#,
        .answer(
          Answer(
            status: 200, body: .bytes([0, 1]), encoding: .closeDelimited,
            trailers: [HTTPField(name: "A", value: "b")]))
      ),
      (#"{"fault": "raw", "base64": "\#(Base64.encode([1, 2]))", "keeps_open": true}"#, .raw([1, 2], keepsOpen: true)),
      (#"{"fault": "status", "status": 500}"#, .status(500)),
      (#"{"fault": "add-fields", "fields": [["X", "y"]]}"#, .addFields([HTTPField(name: "X", value: "y")])),
      (#"{"fault": "encode", "encoding": "chunked"}"#, .encode(.chunked)),
      (#"{"fault": "truncate", "part": "head", "bytes": 3}"#, .truncate(.head(atByte: 3), .close)),
      (#"{"fault": "truncate", "part": "body", "bytes": 3}"#, .truncate(.body(atByte: 3), .close)),
      (#"{"fault": "truncate", "part": "declare-more"}"#, .truncate(.declareMore(bytes: 1), .close)),
      (#"{"fault": "truncate", "part": "last-chunk", "ending": "reset"}"#, .truncate(.withoutLastChunk, .reset)),
      (#"{"fault": "pace", "bytes": 1, "ms": 2}"#, .pace(Pace(bytes: 1, pauseMilliseconds: 2))),
      (#"{"fault": "interim"}"#, .interim(status: 103, fields: [])),
      (#"{"fault": "withhold-continue"}"#, .withholdContinue),
      (#"{"fault": "close-after-answer", "ending": "reset"}"#, .closeAfterAnswer(.reset)),
      (#"{"fault": "expire-nonces"}"#, .expireNonces), (#"{"fault": "revoke-tokens"}"#, .revokeTokens),
    ]
    for (text, fault) in cases {
      let rule = try FaultReader.rule(try JSONValue(parsing: #"{"faults": [\#(text)]}"#))
      #expect(rule == FaultReader.Rule(match: .any, next: 1, faults: [fault]))
    }
  }

  @Test(arguments: [
    ("{}", "rule.faults"), (#"{"faults": []}"#, "1 to 16"), (#"{"faults": [{"fault": "x"}]}"#, "no fault"),
    (#"{"faults": [{"fault": "pass", "ms": 1}]}"#, #"no member "ms""#),
    (#"{"faults": [{"fault": "delay"}]}"#, "fault.ms is needed"),
    (#"{"faults": [{"fault": "pass"}], "next": 0}"#, "rule.next"),
    (#"{"faults": [{"fault": "pass"}], "match": {"role": "x"}}"#, "one of: as, api"),
    (#"{"faults": [{"fault": "answer", "status": 200, "fields": [["A", "b\r\nC: d"]]}]}"#, "control characters"),
    (#"{"faults": [{"fault": "status", "status": 99}]}"#, "200 to 599"),
    (#"{"faults": [{"fault": "raw", "base64": "*"}]}"#, "base64"),
    (#"{"match": {"verdict": "accepted"}, "faults": [{"fault": "hold", "gate": "g"}]}"#, "hold can't wait for"),
  ])
  func `a mistake in a rule adds nothing and says what it is`(rule: String, problem: String) throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let response = try admin.send("POST", "/faults", rule)
    #expect(response.status == 400)
    #expect(response.json["error"]?.stringValue?.contains(problem) == true, "\(response.text)")
    #expect(simulation.faults.rules.isEmpty)
  }

  @Test func `rules are added, listed, used and removed`() throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let rule =
      #"{"match": {"role": "api", "path": "/echo"}, "next": 2, "faults": [{"fault": "status", "status": 503}]}"#
    let added = try admin.send("POST", "/faults", rule)
    #expect(added.status == 201)
    #expect(added.json["rule"]?.int64Value == 1)
    #expect(try client.send(simulation.api, "GET", "/echo").status == 503)
    #expect(try admin.send("GET", "/faults").json.arrayValue?.first?["next"]?.int64Value == 1)
    #expect(try admin.send("DELETE", "/faults/1").status == 204)
    #expect(try client.send(simulation.api, "GET", "/echo").status == 200)
  }

  @Test func `a gate is opened over the port`() async throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    _ = try admin.send("POST", "/faults", #"{"faults": [{"fault": "hold", "gate": "g"}]}"#)
    let held = try TestConnection(port: simulation.api.port)
    try held.write(TestClient.head(simulation.api, "GET", "/echo", []))
    while try admin.send("GET", "/gates/g").json["waiting"]?.int64Value != 1 { await Task.yield() }
    #expect(try admin.send("POST", "/gates/g/open").status == 204)
    #expect(try held.read().status == 200)
  }

  @Test func `the journal is read in parts, counted and cleared`() throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.requestToken()
    _ = try client.send(simulation.api, "POST", "/upload", body: Array("sentinel".utf8))
    _ = try client.send(simulation.api, "GET", "/nothing")
    func sequences(_ query: String) throws -> [Int64?] {
      (try admin.send("GET", "/journal" + query).json.arrayValue ?? []).map { $0["sequence"]?.int64Value }
    }
    #expect(token.status == 200)
    #expect(try sequences("") == [1, 2, 3])
    #expect(try sequences("?since=1&limit=1") == [2])
    #expect(try sequences("?role=as") == [1])
    #expect(try sequences("?path=/upload") == [2])
    #expect(try sequences("?verdict=not_found") == [3])
    let entries = try admin.send("GET", "/journal").json.arrayValue ?? []
    #expect(entries.first?["proof"]?["jkt"]?.stringValue == client.key.thumbprint)
    #expect(entries.dropFirst().first?["body"]?["text"]?.stringValue == "sentinel")
    let counts = try admin.send("GET", "/counts").json
    #expect(counts["api"]?["requests"]?.int64Value == 2)
    #expect(counts["api"]?["verdicts"]?["not_found"]?.int64Value == 1)
    #expect(counts["as"]?["statuses"]?["200"]?.int64Value == 1)
    #expect(try admin.send("DELETE", "/journal").status == 204)
    #expect(try sequences("") == [])
  }

  @Test func `nonces expire and tokens are revoked over the port`() throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    simulation.withSettings { $0.api.access = .dpop }
    simulation.nonceMode = .once
    let client = TestClient(simulation)
    let token = try client.token()
    let nonce = try client.call(token: token).nonce
    #expect(try client.call(token: token, nonce: nonce).status == 200)
    #expect(try admin.send("POST", "/nonces/expire?role=as").status == 204)
    #expect(try client.call(token: token, nonce: nonce).status == 200)
    #expect(try admin.send("POST", "/nonces/expire").status == 204)
    #expect(try client.call(token: token, nonce: nonce).status == 401)
    #expect(try admin.send("POST", "/nonces/expire?role=x").status == 400)
    simulation.nonceMode = .off
    #expect(try admin.send("POST", "/tokens/revoke").status == 204)
    #expect(try client.call(token: token).challenges.first?["error"] == "invalid_token")
  }

  @Test func `web pages and other names are kept out`() throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    #expect(try admin.send("GET", "/journal", host: "localhost:\(admin.port)").status == 200)
    #expect(try admin.send("GET", "/journal", host: "evil.example:\(admin.port)").status == 421)
    #expect(try admin.send("POST", "/reset", fields: ["Origin: http://evil.example"]).status == 403)
    #expect(try admin.send("POST", "/reset", fields: ["Origin: null"]).status == 403)
    #expect(try admin.send("GET", "/journal", fields: ["Sec-Fetch-Site: same-site"]).status == 403)
  }

  @Test func `a redacted journal shows no secret over the port`() throws {
    let (simulation, admin) = try start(redacts: true)
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    simulation.withSettings { $0.api.access = .dpop }
    _ = try client.call("POST", "/echo?k=sentinel", token: token, body: Array("sentinel".utf8))
    let journal = try admin.send("GET", "/journal").text
    for secret in ["service-secret", Base64.encode("svc:service-secret".utf8), token, "sentinel", "grant_type="] {
      #expect(!journal.contains(secret))
    }
  }
}
