import HTTPWire
import Testing

@testable import Simulators

/// What happens at a limit: an answer that says so, or waiting in the system's queue; and what comes after.
@Suite(.timeLimit(.minutes(5))) struct LimitTests {
  /// Calls until the answer is wanted: somebody's leaving is noticed when it is noticed.
  private static func call(_ scene: Scene, until isWanted: (WireResponse) -> Bool) async throws -> Bool {
    for _ in 0..<200 {
      if isWanted(try await scene.call("GET", "/api/echo")) { return true }
    }
    return false
  }

  // MARK: Requests waiting for a token

  @Test func `beyond limits_waiting a request is answered overloaded, and the others wait on`() async throws {
    var setup = Setup.dpop(more: "limits: {waiting: 2}").after {
      $0.faults.add(.hold(.before, gate: "token"), next: nil, on: .token)
    }
    setup.threads = 2
    let records = try await Scene.play(setup) { scene async throws in
      let answers = try await withThrowingTaskGroup(of: WireResponse.self) { group in
        for _ in 0..<3 { group.addTask { try await scene.call("GET", "/api/echo") } }
        var answers = [try #require(try await group.next())]
        scene.simulation.faults.gates.open("token")
        for try await answer in group { answers.append(answer) }
        return answers
      }
      #expect(answers.map(\.status) == [503, 200, 200])
      #expect(answers[0].code == "overloaded")
      #expect(answers[0].values(of: "retry-after") == ["1"])
      #expect(scene.tokenRequests.count == 1)
      return try await scene.records()
    }
    // In any order: two loops hand their lines over when each is ready.
    #expect(records.count == 3 && records.compactMap(\.error) == ["overloaded"])
  }

  @Test func `who leaves, is answered or runs out of time makes room for another`() async throws {
    let setup = Setup.dpop(more: "limits: {waiting: 1}\ntoken_timeout: 100ms").after {
      $0.faults.add(.hold(.before, gate: "token"), next: nil, on: .token)
    }
    try await Scene.play(setup) { scene async throws in
      // Each of these takes the one place and gives it back in 100 ms.
      for _ in 0..<3 { #expect(try await scene.call("GET", "/api/echo").code == "token_unavailable") }
      let client = try scene.connect()
      try await client.send(client.head("GET", "/api/echo"))
      await client.leave()
      #expect(try await Self.call(scene) { $0.code == "token_unavailable" })
      scene.simulation.faults.gates.open("token")
      #expect(try await Self.call(scene) { $0.status == 200 })
    }
  }

  // MARK: Bodies

  private static let limited = "api: {path: /api, upstream: \"$API\", body_limit: 1000}"

  @Test(arguments: ["", "Expect: 100-continue"])
  func `an announced length over the limit is refused before anything is sent`(field: String) async throws {
    try await Scene.play(.open(routes: Self.limited, more: "limits: {body: 1GiB}")) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/api/upload", field.isEmpty ? [] : [field], bodyBytes: 1_001))
      let answer = try await client.read()
      #expect(answer.status == 413)
      #expect(answer.code == "body_too_large")
      #expect(answer.interim.isEmpty)
      #expect(answer.values(of: "connection") == ["close"])
      #expect(scene.arrived.isEmpty)
      #expect(try await scene.call("POST", "/api/upload", body: Pattern.bytes(1_000)).status == 200)
    }
  }

  @Test func `a chunked body is refused when it passes the limit, and the upstream sees it break off`() async throws {
    let records = try await Scene.play(.open(more: "limits: {body: 1000}")) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/api/upload", ["Transfer-Encoding: chunked"]))
      try await client.send("3e8\r\n\(String(repeating: "x", count: 1_000))\r\n")
      try await client.send("1\r\ny\r\n")
      let answer = try await client.read()
      #expect(answer.status == 413)
      #expect(answer.code == "body_too_large")
      #expect(answer.values(of: "connection") == ["close"])
      let whole = try scene.connect()
      try await whole.send(whole.head("POST", "/api/upload", ["Transfer-Encoding: chunked"]))
      try await whole.send("3e8\r\n\(String(repeating: "x", count: 1_000))\r\n0\r\n\r\n")
      #expect(try await whole.read().status == 200)
      #expect(scene.arrived.count { $0.status == 200 } == 1)
      return try await scene.records()
    }
    #expect(records.map(\.error) == ["body_too_large", nil])
  }

  @Test func `a route's limit of nothing refuses every body and lets requests without one pass`() async throws {
    try await Scene.play(.open(routes: "api: {path: /api, upstream: \"$API\", body_limit: 0}")) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 200)
      #expect(try await client.call("POST", "/api/upload", body: []).status == 200)
      #expect(try await client.call("POST", "/api/upload", body: [1]).status == 413)
    }
  }

  // MARK: Connections

  @Test func `at the limit of connections the longest idle one makes room for a new one`() async throws {
    try await Scene.play(.open(more: "limits: {connections: 2}")) { scene async throws in
      let (first, second) = (try scene.connect(), try scene.connect())
      #expect(try await first.call("GET", "/api/echo").status == 200)
      #expect(try await second.call("GET", "/api/echo").status == 200)
      // Served as soon as the first has been idle for a second.
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(try await first.isClosed())
    }
  }

  @Test func `while all connections are in use a new one waits, and is served when one ends`() async throws {
    let setup = Setup.open(more: "limits: {connections: 1}").after { $0.faults.add(.hold(.before, gate: "busy")) }
    try await Scene.play(setup) { scene async throws in
      let busy = try scene.connect()
      try await busy.send(busy.head("GET", "/api/echo"))
      let isBusy = await scene.simulation.journal.wait { $0.contains { $0.path == "/echo" } }
      #expect(isBusy)
      let late = try scene.connect()
      try await late.send(late.head("GET", "/api/echo"))
      scene.simulation.faults.gates.open("busy")
      #expect(try await busy.read().status == 200)
      await busy.leave()
      #expect(try await late.read().status == 200)
    }
  }
}
