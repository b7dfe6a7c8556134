import HTTPWire
import Testing

@testable import Simulators

/// The callers' connections: how many, how long, how large, and what becomes of them when the daemon stops. RFC 9112 §9
@Suite(.timeLimit(.minutes(5))) struct ConnectionTests {
  @Test func `one more connection than the limit is served when another ends`() async throws {
    try await Scene.play(.open(more: "limits: {connections: 1}")) { scene async throws in
      let first = try scene.connect()
      #expect(try await first.call("GET", "/api/echo/1").status == 200)
      let second = try scene.connect()
      try await second.send(second.head("GET", "/api/echo/3"))
      #expect(try await first.call("GET", "/api/echo/2").status == 200)
      await first.leave()
      #expect(try await second.read().status == 200)
      #expect(scene.arrived.map(\.path) == ["/echo/1", "/echo/2", "/echo/3"])
    }
  }

  @Test func `a connection that is not used is closed without a word`() async throws {
    try await Scene.play(.open(more: "timeouts: {idle: 100ms}")) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 200)
      #expect(try await client.isClosed())
      #expect(try await scene.records().count == 1)
    }
  }

  @Test func `a connection on which no request ever begins is closed without a word`() async throws {
    try await Scene.play(.open(more: "timeouts: {head: 100ms}")) { scene async throws in
      #expect(try await scene.connect().isClosed())
      #expect(try await scene.records().isEmpty)
    }
  }

  @Test func `a caller that takes nothing of its answer is given up`() async throws {
    try await Scene.play(.open(more: "timeouts: {send: 200ms}")) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("GET", "/api/bytes/100000000"))
      let isAsked = await scene.simulation.journal.wait { !$0.isEmpty }
      #expect(isAsked)
      // The daemon ends when its last exchange has.
      let records = try await scene.records()
      #expect(records.map(\.status) == [499])
      #expect(try #require(records.first?.responseBytes) < 100_000_000)
    }
  }

  @Test(arguments: [
    "GET /api/\(String(repeating: "x", count: 300)) HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /api HTTP/1.1\r\nHost: a\r\n\((0..<20).map { "X-\($0): 1\r\n" }.joined())\r\n",
    "GET /api HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 3_000))\r\n\r\n",
    // Without an end.
    "GET /api HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: 3_000))",
  ])
  func `a head beyond a limit is answered 431 and the connection closed`(head: String) async throws {
    let more = "limits: {head: 2KiB, fields: 10, target: 256}"
    try await Scene.play(.open(more: more)) { scene async throws in
      let client = try scene.connect()
      try await client.send(head)
      let answer = try await client.read()
      #expect(answer.status == 431)
      #expect(answer.code == "head_too_large")
      #expect(answer.values(of: "connection") == ["close"])
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test(arguments: ["Connection: close", "Connection: foo, Close", "HTTP/1.0"])
  func `a caller that wants to end after its answer is obeyed`(wish: String) async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      if wish == "HTTP/1.0" {
        try await client.send("GET /api/echo HTTP/1.0\r\nHost: 127.0.0.1:\(scene.port)\r\n\r\n")
      } else {
        try await client.send(client.head("GET", "/api/echo", [wish]))
      }
      let answer = try await client.read()
      #expect(answer.status == 200)
      #expect(answer.values(of: "connection") == ["close"])
      #expect(try await client.isClosed())
    }
  }

  @Test func `a stop lets a request under way finish, closes the idle and takes nothing new`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let (busy, idle) = (try scene.connect(), try scene.connect())
      #expect(try await idle.call("GET", "/api/echo").status == 200)
      scene.simulation.faults.add(.hold(.before, gate: "answer"), on: .api())
      try await busy.send(busy.head("GET", "/api/bytes/100"))
      let isAsked = await scene.simulation.journal.wait { $0.contains { $0.path == "/bytes/100" } }
      #expect(isAsked)
      async let ended: Void = scene.end()
      #expect(try await idle.isClosed())
      #expect(throws: ClientSocket.Failure.self) { try scene.connect() }
      scene.simulation.faults.gates.open("answer")
      let answer = try await busy.read()
      #expect(answer.status == 200)
      #expect(answer.body.count == 100)
      #expect(answer.values(of: "connection") == ["close"])
      #expect(try await busy.isClosed())
      await ended
      #expect(try await scene.records().map(\.status) == [200, 200])
    }
  }

  @Test func `a stop does not wait long for the rest of a head`() async throws {
    try await Scene.play(.open(more: "timeouts: {drain: 1h, head: 1h}")) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 200)
      try await client.send("GET /api/echo HT")
      async let ended: Void = scene.end()
      let answer = try await client.read()
      #expect(answer.status == 408)
      #expect(answer.code == "request_timeout")
      await ended
      #expect(try await scene.records().map(\.error) == [nil, "request_timeout"])
    }
  }

  @Test func `what does not finish within the drain limit is broken off and recorded`() async throws {
    try await Scene.play(.open(more: "timeouts: {drain: 100ms}")) { scene async throws in
      scene.simulation.faults.add(.hold(.before, gate: "never"), on: .api())
      let client = try scene.connect()
      try await client.send(client.head("GET", "/api/echo"))
      let isAsked = await scene.simulation.journal.wait { !$0.isEmpty }
      #expect(isAsked)
      let records = try await scene.records()
      #expect(records.count == 1)
      #expect(records.first?.source == "gateway")
      await #expect(throws: WireFailure.self) { try await client.read() }
    }
  }
}
