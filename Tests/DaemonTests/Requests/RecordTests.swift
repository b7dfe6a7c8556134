import HTTPWire
import Testing

@testable import Simulators

/// One line for each exchange, whatever becomes of it, with the right things in it.
@Suite(.timeLimit(.minutes(5))) struct RecordTests {
  @Test func `a record says what was asked, of whom, as whom, and how it went`() async throws {
    let routes = "api: {path: /api, upstream: \"$API/\", credential: machine}"
    try await Scene.play(.dpop(nonces: .once, routes: routes)) { scene async throws in
      let client = try scene.connect()
      let first = try await client.call("POST", "/api/upload?x=1", body: Array("12345".utf8))
      let second = try await client.call("GET", "/api/bytes/1000")
      let api = "\(scene.simulation.api.url)/"
      let records = try await scene.records()
      #expect(records.count == 2)

      let post = try #require(records.first)
      #expect(post.method == "POST")
      #expect(post.target == "/api/upload?x=1")
      #expect(post.route == "api")
      #expect(post.credential == "machine")
      #expect(post.caller?.hasPrefix("uid:") == true)
      #expect(post.upstream == api)
      #expect(post.status == 200)
      #expect(post.source == "upstream")
      #expect(post.requestBytes == 5)
      #expect(post.responseBytes == Int64(first.body.count))
      #expect(post.attempts == 2)
      #expect(["refreshed", "cached"].contains(post.auth.first))
      #expect(post.auth.dropFirst() == ["nonce_retry"])
      #expect(post.error == nil)
      let (whole, part) = (try #require(post.durationMilliseconds), try #require(post.upstreamMilliseconds))
      #expect(0 < part && part <= whole && whole < 60_000)

      let get = try #require(records.last)
      #expect(get.method == "GET")
      #expect(get.requestBytes == 0)
      #expect(get.responseBytes == Int64(second.body.count))
      #expect(get.attempts == 1)
      #expect(get.auth == ["cached"])
      #expect(get.reused == true)
      #expect(Set(records.compactMap { $0.json["id"]?.stringValue }).count == 2)
    }
  }

  @Test func `token requests are records of their own`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      _ = try await scene.call("GET", "/api/echo")
      let server = scene.simulation.authorizationServer.url
      let calls = try await scene.log().filter { $0.event == "oauth" }
      let token = try #require(calls.last)
      #expect(token.method == "POST")
      #expect(token.target == "/token")
      #expect(token.upstream == "\(server)/token")
      #expect(token.credential == "machine")
      #expect(token.status == 200)
      #expect(token.attempts == 2)
      #expect(calls.dropLast().allSatisfy { $0.method == "GET" && $0.target?.hasPrefix("/.well-known/") == true })
    }
  }

  @Test func `a refused token shows as token_retry, a static one as static, none as none`() async throws {
    var setup = Setup.dpop { $0.api.invalidToken = InvalidToken(remaining: 1) }
    setup.credentials += "\nfixed: {provider: static, token: static-token-1234}"
    setup.routes +=
      "\nfixed: {path: /fixed, upstream: \"$API\", credential: fixed}\nnone: {path: /none, upstream: \"$API\"}"
    try await Scene.play(setup) { scene async throws in
      for target in ["/api/echo", "/fixed/echo", "/none/echo"] { _ = try await scene.call("GET", target) }
      let records = try await scene.records()
      #expect(["refreshed", "cached"].contains(records.first?.auth.first))
      #expect(records.map(\.auth.last) == ["token_retry", "static", "none"])
      #expect(records.map(\.auth.count) == [2, 1, 1])
      #expect(records.map(\.attempts) == [2, 1, 1])
    }
  }

  // MARK: Callers that leave

  /// Where the exchange is when its caller leaves.
  enum Step: String, CaseIterable, Sendable {
    case waitsForToken, waitsForResponse, sendsBody, receivesBody, isChallenged
  }

  @Test(arguments: Step.allCases, [false, true])
  func `a caller that leaves is one record with 499`(step: Step, abruptly: Bool) async throws {
    let setup = Setup.dpop(nonces: step == .isChallenged ? .once : .off, more: "timeouts: {drain: 5s}").after {
      if step == .waitsForToken { $0.faults.add(.hold(.before, gate: "token"), next: nil, on: .token) }
    }
    try await Scene.play(setup) { scene async throws in
      let faults = scene.simulation.faults
      if step != .waitsForToken { _ = try await scene.call("GET", "/api/status/204") }
      scene.simulation.expireNonces(at: .api)
      let client = try scene.connect()
      switch step {
      case .waitsForToken:
        try await client.send(client.head("GET", "/api/echo"))
      case .waitsForResponse:
        faults.add(.hold(.before, gate: "g"), on: .api("/echo"))
        try await client.send(client.head("GET", "/api/echo"))
      case .isChallenged:
        faults.add(
          .truncate(.declareMore(bytes: 10), .close), .pace(Pace(bytes: 1, pauseMilliseconds: 2)), on: .api("/echo"))
        try await client.send(client.head("GET", "/api/echo"))
      case .sendsBody: try await client.send(client.head("POST", "/api/echo", bodyBytes: 10) + "12345")
      case .receivesBody:
        try await client.send(client.head("GET", "/api/stream?events=2&ms=60000"))
        _ = try await client.readHead()
      }
      let hasArrived = await scene.simulation.journal.wait { entries in
        step == .waitsForToken
          ? entries.contains { $0.path == "/token" } : entries.contains { $0.path == "/echo" || $0.path == "/stream" }
      }
      #expect(hasArrived)
      // The token is fetched from the start on: only an answer on a later connection shows that this one was accepted.
      if step == .waitsForToken { _ = try await scene.call("GET", "/nowhere") }
      abruptly ? await client.reset() : await client.leave()
      let records = try await scene.records()
      let record = try #require(records.last)
      #expect(records.count == 2)
      #expect(record.status == 499)
      #expect(record.source == "gateway")
      #expect(record.requestBytes == (step == .sendsBody ? 5 : 0))
      #expect(record.attempts == (step == .waitsForToken ? 0 : 1))
      #expect(record.method == (step == .sendsBody ? "POST" : "GET"))
    }
  }

  @Test func `a caller that leaves does not stop the token request others wait for`() async throws {
    let hold = Fault.hold(.before, gate: "token")
    try await Scene.play(.dpop().after { $0.faults.add(hold, next: nil, on: .token) }) { scene async throws in
      let leaver = try scene.connect()
      try await leaver.send(leaver.head("GET", "/api/echo/leaver"))
      let isAsked = await scene.simulation.journal.wait { $0.contains { $0.path == "/token" } }
      #expect(isAsked)
      _ = try await scene.call("GET", "/nowhere")
      async let other = scene.call("GET", "/api/echo/other")
      await leaver.reset()
      scene.simulation.faults.gates.open("token")
      #expect(try await other.status == 200)
      #expect(scene.tokenRequests.count == 1)
      #expect(scene.arrived.map(\.path) == ["/echo/other"])
      #expect(try await scene.records().map(\.status) == [404, 499, 200])
    }
  }

  // MARK: Upstreams that fail

  @Test(arguments: [
    ([Fault.drop(.head, .close)], 502, "upstream_closed"), ([.drop(.after, .reset)], 502, "upstream_closed"),
    ([.truncate(.head(atByte: 30), .close)], 502, "upstream_closed"),
    ([.truncate(.head(atByte: 30), .reset)], 502, "upstream_closed"),
    ([.truncate(.body(atByte: 500), .close)], 200, "upstream_closed"),
    ([.truncate(.body(atByte: 500), .reset)], 200, "upstream_closed"),
    ([.encode(.chunked), .truncate(.body(atByte: 500), .close)], 200, "upstream_closed"),
    ([.encode(.chunked), .truncate(.withoutLastChunk, .close)], 200, "upstream_closed"),
    ([.truncate(.declareMore(bytes: 7), .close)], 200, "upstream_closed"),
  ])
  func `an upstream that dies is one record that says so`(faults: [Fault], status: Int, code: String) async throws {
    try await Scene.play(.open()) { scene async throws in
      scene.simulation.faults.add(faults, next: nil, on: .api())
      let client = try scene.connect()
      do {
        let answer = try await client.call("POST", "/api/bytes/1000", body: [1])
        #expect(status == 502)
        #expect(answer.status == 502 && answer.code == code)
      } catch let failure as WireFailure {
        // An answer that has begun can only be broken off, so that nobody takes it for whole.
        #expect(status == 200)
        #expect(failure == .reset)
      }
      let records = try await scene.records()
      #expect(records.count == 1)
      #expect(records.first?.status == Int64(status))
      #expect(records.first?.error == code)
      #expect(records.first?.attempts == 1)
    }
  }

  @Test func `an upstream that is too slow is one record with 504`() async throws {
    let routes = "api: {path: /api, upstream: \"$API\", timeouts: {response: 100ms}}"
    try await Scene.play(.open(routes: routes)) { scene async throws in
      scene.simulation.faults.add(.hold(.before, gate: "never"))
      #expect(try await scene.call("GET", "/api/echo").status == 504)
      let records = try await scene.records()
      #expect(records.map(\.error) == ["upstream_timeout"])
      #expect(records.map(\.attempts) == [1])
    }
  }

  // MARK: Time limits on callers

  @Test func `a body that stops coming is answered 408 and is one record`() async throws {
    try await Scene.play(.open(more: "timeouts: {body: 100ms}")) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/api/upload", bodyBytes: 10) + "123")
      let answer = try await client.read()
      #expect(answer.code == "request_timeout")
      #expect(try await client.isClosed())
      let records = try await scene.records()
      #expect(records.map(\.status) == [408])
      #expect(records.first?.requestBytes == 3)
      #expect(records.first?.method == "POST")
      #expect(records.first?.target == "/api/upload")
    }
  }

  /// Of the request that is timed out nothing is known; in particular nothing of the one before.
  @Test func `a head that stops coming behind a served request is a record of its own`() async throws {
    try await Scene.play(.dpop(nonces: .once, more: "timeouts: {head: 100ms}")) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call("POST", "/api/upload", body: [1, 2, 3])
      try await client.send("GET /api/echo HTTP/1.1\r\n")
      #expect(try await client.read().code == "request_timeout")
      #expect(try await client.isClosed())
      let records = try await scene.records()
      #expect(records.map(\.status) == [200, 408])
      let record = try #require(records.last)
      #expect(record.method == nil)
      #expect(record.target == nil)
      #expect(record.route == nil)
      #expect(record.attempts == 0)
      #expect(record.auth == [])
      #expect(record.requestBytes == 0)
      #expect(record.responseBytes == 0)
      #expect(record.reused == nil)
      #expect(record.upstreamMilliseconds == nil)
      #expect(record.error == "request_timeout")
    }
  }

  @Test func `a broken head behind a served request is a record of its own`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call("POST", "/api/upload", body: [1, 2, 3])
      try await client.send("GET /api/echo HTTP/1.1\nHost: x\n\n")
      #expect(try await client.read().code == "bad_request")
      #expect(try await client.isClosed())
      let records = try await scene.records()
      #expect(records.map(\.status) == [200, 400])
      #expect(records.last?.method == nil)
      #expect(records.last?.attempts == 0)
      #expect(records.last?.auth == [])
      #expect(records.last?.requestBytes == 0)
    }
  }

  @Test func `connections on which nothing is asked leave no record`() async throws {
    try await Scene.play(.open()) { scene async throws in
      for text in ["", "GET /api"] {
        let client = try scene.connect()
        try await client.send(text)
        await client.leave()
      }
      _ = try await scene.call("GET", "/api/echo")
      #expect(try await scene.records().count == 1)
    }
  }

  @Test func `no secret of an exchange is in the log, and no value of its query that looks like one`() async throws {
    try await Scene.play(.dpop(nonces: .rotate)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call("GET", "/api/echo?access_token=sentinel-0815&q=visible", ["Cookie: sentinel-0815"])
      _ = try await client.call("GET", "/api/echo", ["Authorization: Bearer sentinel-0815"])
      let entries = scene.arrived + scene.tokenRequests
      let log = try await scene.logText()
      #expect(log.contains("q=visible"))
      #expect(!log.contains("sentinel-0815"))
      #expect(!log.contains(Setup.clientSecret))
      for entry in entries {
        for secret in [entry.token, try? SentProof(entry).nonce, try? SentProof(entry).compact].compactMap({ $0 }) {
          #expect(!log.contains(secret))
        }
      }
    }
  }
}
