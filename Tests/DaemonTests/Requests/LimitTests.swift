import HTTPWire
import Testing

@testable import Simulators

/// What happens at a limit: an answer that says so, or waiting in the system's queue; and what comes after.
@Suite(.timeLimit(.minutes(5))) struct LimitTests {
  /// Calls until the answer is wanted: somebody's leaving is noticed when it is noticed.
  private static func call(
    _ scene: Scene, _ target: String, until isWanted: (WireResponse) -> Bool
  ) async throws -> Bool {
    for _ in 0..<200 {
      if isWanted(try await scene.call("GET", target)) { return true }
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

  /// One route waits longer than any test does, the other gives up at once; they share the place and the token.
  private static let patient = """
    api: {path: /api, upstream: "$API", credential: machine, token_timeout: 60s}
    quick: {path: /quick, upstream: "$API", credential: machine, token_timeout: 100ms}
    """
  private static let heldToken = Setup.dpop(routes: patient, more: "limits: {waiting: 1}").after {
    $0.faults.add(.hold(.before, gate: "token"), next: nil, on: .token)
  }

  @Test func `who runs out of time makes room for another`() async throws {
    try await Scene.play(Self.heldToken) { scene async throws in
      for _ in 0..<5 { #expect(try await scene.call("GET", "/quick/echo").code == "token_unavailable") }
    }
  }

  @Test func `who has its token makes room for another, however long its answer takes`() async throws {
    try await Scene.play(Self.heldToken) { scene async throws in
      let faults = scene.simulation.faults
      faults.add(.hold(.after, gate: "answer"), on: .api("/echo/first"))
      let client = try scene.connect()
      try await client.send(client.head("GET", "/api/echo/first"))
      #expect(try await Self.call(scene, "/quick/echo") { $0.code == "overloaded" })
      faults.gates.open("token")
      let isJudged = await scene.simulation.journal.wait {
        $0.contains { $0.path == "/echo/first" && $0.verdict == .accepted }
      }
      #expect(isJudged)
      // The next token is wanted while that answer is held; a refusal that was cut is never delivered in its place.
      faults.gates.close("token")
      scene.simulation.revokeTokens()
      faults.add(.truncate(.declareMore(bytes: 10), .close), on: .api("/echo/second"))
      #expect(try await scene.call("GET", "/quick/echo/second").code == "token_unavailable")
      faults.gates.open("answer")
      #expect(try await client.read().status == 200)
    }
  }

  @Test(arguments: [false, true])
  func `who leaves while it waits makes room for another`(abruptly: Bool) async throws {
    let records = try await Scene.play(Self.heldToken) { scene async throws in
      for _ in 0..<3 {
        let client = try scene.connect()
        try await client.send(client.head("GET", "/api/echo"))
        #expect(try await Self.call(scene, "/quick/echo") { $0.code == "overloaded" })
        abruptly ? await client.reset() : await client.leave()
        // Only now, and not before the minute of the one that left is over, is there a place to run out of time in.
        #expect(try await Self.call(scene, "/quick/echo") { $0.code == "token_unavailable" })
      }
      scene.simulation.faults.gates.open("token")
      #expect(try await Self.call(scene, "/quick/echo") { $0.status == 200 })
      return try await scene.records()
    }
    #expect(records.filter { $0.route == "api" }.map(\.status) == [499, 499, 499])
  }

  // MARK: The same after a token was refused

  /// Plays up to the moment when a request whose token was refused takes the one place for waiting, then has `next` play.
  private static func whenTheNextTokenIsAwaited(
    _ next: @Sendable (_ scene: Scene) async throws -> Void
  ) async throws -> [LogRecord] {
    try await Scene.play(.dpop(routes: patient, more: "limits: {waiting: 1}")) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo/before").status == 200)
      let faults = scene.simulation.faults
      faults.add(.hold(.before, gate: "token"), next: nil, on: .token)
      scene.simulation.revokeTokens()
      let first = try scene.connect()
      try await first.send(first.head("GET", "/api/echo/first"))
      #expect(await scene.simulation.journal.wait { $0.count { $0.path == "/token" } == 2 })
      try await next(scene)
      faults.gates.open("token")
      #expect(try await first.read().status == 200)
      #expect(try await scene.call("GET", "/api/echo/after").status == 200)
      #expect(scene.tokenRequests.count == 2)
      return try await scene.records()
    }
  }

  @Test func `with no place to wait for a better token the upstream's own refusal is delivered`() async throws {
    let records = try await Self.whenTheNextTokenIsAwaited { scene in
      let answer = try await scene.call("GET", "/api/echo/second")
      #expect(answer.status == 401)
      #expect(answer.code == nil)
      #expect(answer.values(of: "www-authenticate").contains { $0.contains("invalid_token") })
    }
    #expect(records.map(\.status) == [200, 401, 200, 200])
    #expect(records.map(\.attempts) == [1, 1, 2, 1])
    #expect(records.map(\.source) == ["upstream", "upstream", "upstream", "upstream"])
    #expect(records.allSatisfy { $0.error == nil })
  }

  @Test(arguments: [Fault.Ending.close, .reset])
  func `if that refusal was cut, the answer is overloaded`(ending: Fault.Ending) async throws {
    let records = try await Self.whenTheNextTokenIsAwaited { scene in
      scene.simulation.faults.add(.truncate(.declareMore(bytes: 10), ending), on: .api("/echo/second"))
      let client = try scene.connect()
      let answer = try await client.call("POST", "/api/echo/second", body: Pattern.bytes(1_000))
      #expect(answer.status == 503)
      #expect(answer.code == "overloaded")
      #expect(answer.values(of: "retry-after") == ["1"])
      #expect(answer.values(of: "www-authenticate").isEmpty)
      // The connection is as good as before.
      #expect(try await client.call("GET", "/nowhere").status == 404)
    }
    #expect(records.map(\.status) == [200, 503, 404, 200, 200])
    #expect(records.map(\.attempts) == [1, 1, 0, 2, 1])
    #expect(records.map(\.error) == [nil, "overloaded", "no_route", nil, nil])
    #expect(records[1].source == "gateway" && records[1].requestBytes == 1_000)
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

  @Test func `the limit of connections is that of all loops, wherever the kernel puts them`() async throws {
    var setup = Setup.open(more: "limits: {connections: 8}").after {
      $0.faults.add(.hold(.before, gate: "busy"), next: nil)
    }
    setup.threads = 4
    try await Scene.play(setup) { scene async throws in
      let clients = try (0..<8).map { _ in try scene.connect() }
      for client in clients { try await client.send(client.head("GET", "/api/echo")) }
      // None of them has to wait for another.
      let areBusy = await scene.simulation.journal.wait { $0.count { $0.path == "/echo" } == 8 }
      #expect(areBusy)
      let late = try (0..<4).map { _ in try scene.connect() }
      for client in late { try await client.send(client.head("GET", "/api/echo")) }
      scene.simulation.faults.gates.open("busy")
      for client in clients {
        #expect(try await client.read().status == 200)
        await client.leave()
      }
      // Called by whichever loop has a place to give.
      for client in late { #expect(try await client.read().status == 200) }
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
