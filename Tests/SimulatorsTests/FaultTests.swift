import HTTPWire
import Testing

@testable import Simulators

@Suite struct FaultTests {
  /// A simulation whose API asks for nothing, so that a test is about the fault alone.
  private func start() throws -> (Simulation, TestClient) {
    var options = SimulationOptions()
    options.settings.api.access = .none
    let simulation = try Simulation.start(options)
    return (simulation, TestClient(simulation))
  }

  @Test func `rules are taken in order of registration and used up`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.pass, next: 2, on: .api("/echo"))
    simulation.faults.add(.status(503), next: 1, on: .api("/echo"))
    let forEver = simulation.faults.add(.status(500), next: nil, on: RequestMatch(method: "DELETE"))
    let statuses = try (1...4).map { _ in try client.send(simulation.api, "GET", "/echo").status }
    #expect(statuses == [200, 200, 503, 200])
    let deletes = try (1...3).map { _ in try client.send(simulation.api, "DELETE", "/echo").status }
    #expect(deletes == [500, 500, 500])
    simulation.faults.remove(forEver)
    #expect(try client.send(simulation.api, "DELETE", "/echo").status == 200)
    #expect(simulation.faults.rules.isEmpty)
    #expect(simulation.journal.entries()[2].faults == ["status"])
  }

  @Test func `a rule is for a role, a method and a path`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.status(500), next: nil, on: .token)
    simulation.faults.add(.status(501), next: nil, on: RequestMatch(.api, method: "PUT", pathPrefix: "/up"))
    #expect(try client.requestToken().status == 500)
    #expect(try client.send(simulation.api, "PUT", "/upload", body: []).status == 501)
    #expect(try client.send(simulation.api, "POST", "/upload", body: []).status == 200)
    #expect(try client.send(simulation.api, "PUT", "/echo", body: []).status == 200)
  }

  @Test func `a drop before the judgement leaves no trace, one after it does`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    simulation.faults.add(.drop(.before, .close), next: 1, on: .token)
    #expect(throws: TestConnection.Failure.closed) { try client.requestToken() }
    #expect(simulation.journal.entries().last?.verdict == nil)
    simulation.faults.add(.drop(.after, .close), next: 1, on: .token)
    let proof = try client.proof("POST", simulation.authorizationServer.url + "/token")
    #expect(throws: TestConnection.Failure.closed) { try client.requestToken(proof: proof) }
    let entry = try #require(simulation.journal.entries().last)
    #expect(entry.verdict == .accepted)
    #expect(entry.status == nil)
    // The proof is spent though its answer was lost.
    #expect(try client.requestToken(proof: proof).status == 400)
    #expect(simulation.journal.entries().last?.verdict == .proofReplayed)
  }

  @Test func `a drop may be a reset, and may come with the head`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.drop(.head, .reset), next: 1)
    let connection = try TestConnection(port: simulation.api.port)
    try connection.write(TestClient.head(simulation.api, "POST", "/upload", [], bodyBytes: 10))
    #expect(throws: TestConnection.Failure.reset) { try connection.read() }
    #expect(try client.send(simulation.api, "GET", "/echo").status == 200)
  }

  @Test func `a gate holds a request until it is opened`() async throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.hold(.after, gate: "answer"), next: 1, on: .api("/echo"))
    let held = try TestConnection(port: simulation.api.port)
    try held.write(TestClient.head(simulation.api, "GET", "/echo", []))
    #expect(await simulation.journal.wait { $0.first?.verdict == .accepted })
    #expect(try client.send(simulation.api, "GET", "/echo").status == 200)
    #expect(simulation.journal.entries().map(\.status) == [nil, 200])
    simulation.faults.gates.open("answer")
    #expect(try held.read().status == 200)
    #expect(simulation.faults.gates.waiting(at: "answer") == 0)
  }

  @Test func `removing all rules lets those go who wait at a gate`() async throws {
    let (simulation, _) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.hold(.head, gate: "g"), next: nil)
    let held = try TestConnection(port: simulation.api.port)
    try held.write(TestClient.head(simulation.api, "GET", "/echo", []))
    #expect(await simulation.journal.wait { $0.count == 1 })
    while simulation.faults.gates.waiting(at: "g") == 0 { await Task.yield() }
    simulation.faults.removeAll()
    #expect(try held.read().status == 200)
  }

  @Test func `a delay delays`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.delay(.before, milliseconds: 30), .delay(.after, milliseconds: 30), next: 1)
    let clock = ContinuousClock()
    let duration = try clock.measure { _ = try client.send(simulation.api, "GET", "/echo") }
    #expect(duration >= .milliseconds(60))
  }

  @Test func `a scripted answer replaces everything, trailers and redirects included`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let answer = Answer(
      status: 302, fields: [HTTPField(name: "Location", value: "http://other.example/")], body: .bytes([1, 2, 3]),
      encoding: .chunked, trailers: [HTTPField(name: "X-Sum", value: "6")])
    simulation.faults.add(.answer(answer), next: 1)
    let response = try client.send(simulation.api, "GET", "/nothing")
    #expect(response.status == 302)
    #expect(response.values("location") == ["http://other.example/"])
    #expect(response.body == [1, 2, 3])
    #expect(response.values("trailer") == ["X-Sum: 6"])
    let entry = try #require(simulation.journal.entries().last)
    #expect(entry.verdict == nil)
    #expect(entry.status == 302)
  }

  @Test func `raw bytes are written as they are`() throws {
    let (simulation, _) = try start()
    defer { simulation.stop() }
    let bytes = Array("HTTP/1.1 200 OK\nbroken: \r\u{0}".utf8) + [0xFF]
    simulation.faults.add(.raw(bytes, keepsOpen: false), next: 1)
    let connection = try TestConnection(port: simulation.api.port)
    try connection.write(TestClient.head(simulation.api, "GET", "/echo", []))
    #expect(try connection.readToEnd() == bytes)
  }

  @Test func `a raw answer may keep the connection open, with more than was asked for`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    let two = "HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"
    simulation.faults.add(.raw(Array(two.utf8), keepsOpen: true), next: 1)
    let connection = try TestConnection(port: simulation.api.port)
    #expect(try client.send(simulation.api, "GET", "/echo", on: connection).status == 204)
    #expect(try connection.read().body == [UInt8(ascii: "x")])
    #expect(try client.send(simulation.api, "GET", "/echo", on: connection).status == 200)
  }

  @Test func `fields are added and 1xx answers come first`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(
      .addFields([HTTPField(name: "Set-Cookie", value: "a=b; Domain=example")]),
      .interim(status: 103, fields: [HTTPField(name: "Link", value: "</x>")]), .interim(status: 102, fields: []),
      next: 1)
    let response = try client.send(simulation.api, "GET", "/echo")
    #expect(response.interim == [103, 102])
    #expect(response.status == 200)
    #expect(response.values("set-cookie") == ["a=b; Domain=example"])
  }

  @Test(arguments: BodyEncoding.allCases)
  func `every encoding of a body carries the same body`(encoding: BodyEncoding) throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.encode(encoding), next: 1)
    let response = try client.send(simulation.api, "GET", "/bytes/40000")
    #expect(response.isComplete)
    #expect(response.body == (0..<40_000).map { UInt8($0 % 251) })
    #expect(response.values("content-length").isEmpty == (encoding != .contentLength))
    #expect(response.values("transfer-encoding") == (encoding == .chunked ? ["chunked"] : []))
  }

  @Test func `an HTTP/1.0 client gets no chunks`() throws {
    let (simulation, _) = try start()
    defer { simulation.stop() }
    let connection = try TestConnection(port: simulation.api.port)
    try connection.write("GET /stream?events=1 HTTP/1.0\r\nHost: 127.0.0.1:\(simulation.api.port)\r\n\r\n")
    let response = try connection.read()
    #expect(response.values("transfer-encoding").isEmpty)
    #expect(response.text == "id: 0\ndata: event 0\n\n")
  }

  @Test(arguments: [
    (Fault.Truncation.body(atByte: 10), BodyEncoding.contentLength), (.body(atByte: 10), .chunked),
    (.declareMore(bytes: 5), .contentLength), (.withoutLastChunk, .chunked),
  ])
  func `a truncated body ends before its time`(truncation: Fault.Truncation, encoding: BodyEncoding) throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.encode(encoding), .truncate(truncation, .close), next: 1)
    let response = try client.send(simulation.api, "GET", "/bytes/1000")
    #expect(response.status == 200)
    #expect(!response.isComplete)
  }

  @Test func `a truncated head is no head`() throws {
    let (simulation, _) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.truncate(.head(atByte: 20), .close), next: 1)
    let connection = try TestConnection(port: simulation.api.port)
    try connection.write(TestClient.head(simulation.api, "GET", "/echo", []))
    #expect(try connection.readToEnd() == Array("HTTP/1.1 200 OK\r\nDat".utf8))
  }

  @Test func `a paced answer arrives whole`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.pace(Pace(bytes: 1, pauseMilliseconds: 0)), next: 1)
    #expect(try client.send(simulation.api, "GET", "/echo").json["method"]?.stringValue == "GET")
  }

  @Test func `a connection may close after an answer that promised to keep it`() throws {
    let (simulation, client) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.closeAfterAnswer(.close), next: 1)
    let connection = try TestConnection(port: simulation.api.port)
    let response = try client.send(simulation.api, "GET", "/echo", on: connection)
    #expect(response.values("connection").isEmpty)
    #expect(try connection.readToEnd() == [])
  }

  @Test func `100 Continue is sent when it is expected, and withheld on demand`() throws {
    let (simulation, _) = try start()
    defer { simulation.stop() }
    simulation.faults.add(.pass, next: 1)
    simulation.faults.add(.withholdContinue, next: 1)
    let head = TestClient.head(simulation.api, "POST", "/upload", ["Expect: 100-continue"], bodyBytes: 2)
    let connection = try TestConnection(port: simulation.api.port)
    try connection.write(head)
    try connection.write("ab")
    #expect(try connection.read().interim == [100])
    try connection.write(head)
    try connection.write("ab")
    #expect(try connection.read().interim == [])
  }

  @Test func `nonces and tokens can be made wrong at a chosen request`() throws {
    let simulation = try Simulation.start(.init(nonces: .once))
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    let nonce = try client.call(token: token).nonce
    simulation.faults.add(.pass, next: 1, on: .api())
    simulation.faults.add(.expireNonces, next: 1, on: .api())
    simulation.faults.add(.revokeTokens, next: 1, on: .api())
    #expect(try client.call(token: token, nonce: nonce).status == 200)
    let challenge = try client.call(token: token, nonce: nonce)
    #expect(challenge.challenges.first?["error"] == "use_dpop_nonce")
    let refused = try client.call(token: token, nonce: challenge.nonce)
    #expect(refused.challenges.first?["error"] == "invalid_token")
  }
}
