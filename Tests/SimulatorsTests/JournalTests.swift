import EventLoop
import HTTPWire
import Testing

@testable import Simulators

@Suite struct JournalTests {
  @Test func `an entry holds the request as it was sent, the judgement and the answer`() throws {
    let time = ManualTime()
    var options = SimulationOptions()
    options.time = time
    let simulation = try Simulation.start(options)
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let now = time.wallNanoseconds / 1_000_000_000
    let proof = try client.proof("POST", "\(simulation.authorizationServer.url)/token", at: now)
    _ = try client.requestToken(form: [("grant_type", "client_credentials"), ("scope", "a b")], proof: proof)
    let entry = try #require(simulation.journal.entries().first)
    #expect(entry.role == .authorizationServer)
    #expect(entry.sequence == 1)
    #expect(entry.connection == 1)
    #expect(entry.receivedAtUnixMilliseconds == now * 1000)
    #expect(entry.method == "POST")
    #expect(entry.target == "/token")
    #expect(entry.fields.map(\.name) == ["Host", "Authorization", "DPoP", "Content-Type", "Content-Length"])
    #expect(entry.values(of: "dpop") == [proof])
    #expect(entry.form.map(\.1) == ["client_credentials", "a b"])
    #expect(entry.proof?.htm == "POST")
    #expect(entry.verdict == .accepted)
    #expect(entry.status == 200)
    #expect(entry.isFinished)
  }

  @Test func `connections and requests are counted`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    let connection = try TestConnection(port: simulation.api.port)
    _ = try client.call(token: token, on: connection)
    _ = try client.call(token: token, on: connection)
    _ = try client.call(token: token)
    #expect(simulation.journal.entries(role: .api).map(\.connection) == [1, 1, 2])
    #expect(simulation.journal.entries().map(\.sequence) == [1, 2, 3, 4])
  }

  @Test func `a head that is not HTTP is an entry, too`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    let connection = try TestConnection(port: simulation.api.port)
    try connection.write("GET / HTTP/1.1\nHost: x\n\n")
    let response = try connection.read()
    #expect(response.status == 400)
    #expect(response.values("connection") == ["close"])
    #expect(simulation.journal.entries().map(\.verdict) == [.malformed])
  }

  @Test func `two lengths, or a length and chunks, are refused`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    for fields in ["Content-Length: 1\r\nContent-Length: 2", "Content-Length: 1\r\nTransfer-Encoding: chunked"] {
      let connection = try TestConnection(port: simulation.api.port)
      try connection.write("POST /echo HTTP/1.1\r\nHost: 127.0.0.1:\(simulation.api.port)\r\n\(fields)\r\n\r\n")
      #expect(try connection.read().status == 400)
    }
  }

  @Test func `a chunked upload is hashed over its payload, a broken one refused`() throws {
    var options = SimulationOptions()
    options.settings.api.access = .none
    let simulation = try Simulation.start(options)
    defer { simulation.stop() }
    let head = "POST /upload HTTP/1.1\r\nHost: 127.0.0.1:\(simulation.api.port)\r\nTransfer-Encoding: chunked\r\n\r\n"
    let connection = try TestConnection(port: simulation.api.port)
    try connection.write(head)
    for piece in ["2\r\nhe", "\r\n3;x=y\r\nl", "lo\r\n0\r\nT: 1\r\n\r\n"] { try connection.write(piece) }
    #expect(try connection.read().json["body_length"]?.int64Value == 5)
    try connection.write(head + "5\r\nhelloX")
    #expect(try connection.read().status == 400)
    #expect(simulation.journal.entries().last?.verdict == .malformed)
  }

  @Test func `a test waits for what it wants to see`() async throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    #expect(await simulation.journal.wait(upTo: .milliseconds(1)) { !$0.isEmpty } == false)
    let client = TestClient(simulation)
    _ = try client.requestToken()
    #expect(await simulation.journal.wait { $0.first?.status == 200 })
  }

  @Test func `the oldest entries make room and clearing forgets all`() throws {
    var options = SimulationOptions()
    options.journalEntriesMax = 4
    options.settings.api.access = .none
    let simulation = try Simulation.start(options)
    defer { simulation.stop() }
    let client = TestClient(simulation)
    for _ in 1...5 { _ = try client.send(simulation.api, "GET", "/echo") }
    #expect(simulation.journal.entries().map(\.sequence) == [3, 4, 5])
    #expect(simulation.journal.dropped == 2)
    simulation.journal.clear()
    _ = try client.send(simulation.api, "GET", "/echo")
    #expect(simulation.journal.entries().map(\.sequence) == [6])
  }

  @Test func `a redacted journal holds no secret`() throws {
    var options = SimulationOptions()
    options.redactsJournal = true
    let simulation = try Simulation.start(options)
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    _ = try client.call("GET", "/echo?key=sentinel-1", token: token, fields: ["X-Own: sentinel-2"])
    for entry in simulation.journal.entries() {
      var all = entry.target
      for field in entry.fields { all += "\(field.name): \(field.value)\n" }
      all += String(decoding: entry.body?.kept ?? [], as: UTF8.self)
      for secret in ["service-secret", client.basic("svc", "service-secret"), token, "sentinel", "grant_type"] {
        #expect(!all.contains(secret))
      }
    }
    #expect(simulation.journal.entries().last?.values(of: "authorization") == ["DPoP [redacted]"])
  }
}
