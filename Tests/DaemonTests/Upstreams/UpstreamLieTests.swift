import HTTPWire
import Testing

@testable import Simulators

/// Upstreams that break HTTP, in every way one has been seen to. RFC 9112 §6.3, §9.6, §11.1
@Suite(.timeLimit(.minutes(5))) struct UpstreamLieTests {
  static let violations: [String] = [
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nContent-Length: 3, 3\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
    "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc", "HTTP/1.1 200 OK\r\nContent-Length: 0x3\r\n\r\nabc",
    "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "HTTP/1.1 200 OK\nContent-Length: 0\n\n", "HTTP/1.1 200 OK\r\nX: a\nY: b\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n", "HTTP/1.1 200 OK\r\nX : a\r\n\r\n",
    "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", "HTTP/1.1 200 OK\r\n: a\r\n\r\n", "HTTP/1.1 200 OK\r\nX\u{e9}: a\r\n\r\n",
    "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 abc OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n", "HTTP/1.1 600 No\r\n\r\n",
    "HTTP/1.1 099 No\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n\r\n", "\r\nHTTP/1.1 200 OK\r\n\r\n",
    "<html>hello</html>\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    String(repeating: "HTTP/1.1 103 Early Hints\r\n\r\n", count: 17) + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 40_000))\r\n\r\n",
    "HTTP/1.1 200 OK\r\n\((0..<150).map { "X-\($0): 1\r\n" }.joined())\r\n",
    "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  ]

  @Test(arguments: Self.violations)
  func `a response that breaks HTTP is answered upstream_protocol and its connection closed`(raw: String) async throws {
    try await Scene.play(.open()) { scene async throws in
      scene.simulation.faults.add(.raw(Array(raw.utf8), keepsOpen: true))
      let client = try scene.connect()
      let answer = try await client.call("GET", "/api/echo")
      #expect(answer.status == 502)
      #expect(answer.code == "upstream_protocol")
      // The caller's connection is none the worse.
      #expect(try await client.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.map(\.connection) == [1, 2])
    }
  }

  private static let brokenChunks = [
    "zz\r\nabc\r\n0\r\n\r\n", "3\r\nabcX\r\n0\r\n\r\n", "3\nabc\n0\n\n", "fffffffffffffffff\r\n", "-3\r\n",
    "3 \r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\nBad Trailer\r\n\r\n",
  ]

  @Test(arguments: brokenChunks)
  func `a broken chunk is a 502 while nothing of the answer has gone out`(body: String) async throws {
    try await Scene.play(.open()) { scene async throws in
      let raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
      scene.simulation.faults.add(.raw(Array(raw.utf8), keepsOpen: true))
      let client = try scene.connect()
      let answer = try await client.call("GET", "/api/echo")
      #expect(answer.status == 502)
      #expect(answer.code == "upstream_protocol")
      #expect(try await client.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.map(\.connection) == [1, 2])
      #expect(try await scene.records().map(\.error) == ["upstream_protocol", nil])
      #expect(try await scene.records().map(\.status) == [502, 200])
    }
  }

  @Test(arguments: brokenChunks)
  func `a broken chunk behind others breaks the answer off`(body: String) async throws {
    try await Scene.play(.open()) { scene async throws in
      let first = "4e20\r\n" + String(repeating: "x", count: 20_000) + "\r\n"
      let raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(first)\(body)"
      scene.simulation.faults.add(.raw(Array(raw.utf8), keepsOpen: true))
      let client = try scene.connect()
      await #expect(throws: WireFailure.self) { try await client.call("GET", "/api/echo") }
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.map(\.connection) == [1, 2])
      #expect(try await scene.records().map(\.error) == ["upstream_protocol", nil])
      #expect(try await scene.records().map(\.status) == [200, 200])
    }
  }

  @Test func `a response that comes byte by byte is the same response`() async throws {
    for encoding in [BodyEncoding.contentLength, .chunked] {
      try await Scene.play(.dpop(nonces: .once) { $0.api.server.encoding = encoding }) { scene async throws in
        scene.simulation.faults.add(.pace(Pace(bytes: 1, pauseMilliseconds: 0)), next: nil, on: .api())
        let client = try scene.connect()
        let answer = try await client.call("GET", "/api/bytes/300")
        #expect(answer.status == 200)
        #expect(answer.body == Pattern.bytes(300))
        #expect(try await client.call("GET", "/api/bytes/0").status == 200)
        #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted, .accepted])
        #expect(Set(scene.arrived.map(\.connection)).count == 1)
      }
    }
  }

  /// Response splitting: the second response must not be anybody's answer.
  @Test func `bytes behind a response are not taken for the next one`() async throws {
    try await Scene.play(.open()) { scene async throws in
      let good = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood"
      let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
      scene.simulation.faults.add(.raw(Array((good + evil).utf8), keepsOpen: true))
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").text == "good")
      let next = try await client.call("GET", "/api/echo")
      #expect(next.json["target"] == "/echo")
      #expect(scene.arrived.map(\.connection) == [1, 2])
    }
  }

  @Test func `bytes on a connection nobody uses close it`() async throws {
    let upstream = try RawUpstream { line, gates in
      guard line.nextHead() != nil else { return }
      line.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(line.number)")
      guard line.number == 1 else { return _ = line.nextHead() }
      line.wait(for: gates, "used")
      line.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
      #expect(line.nextHead() == nil)
    }
    defer { upstream.stop() }
    try await Scene.play(.open(routes: "raw: {path: /raw, upstream: \"\(upstream.url)\"}")) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/raw").text == "1")
      upstream.gates.open("used")
      await upstream.hasEnded(connections: 1)
      #expect(try await client.call("GET", "/raw").text == "2")
    }
  }

  @Test func `an interim response or two do no harm`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let link = HTTPField(name: "Link", value: "</x>; rel=preload")
      scene.simulation.faults.add(
        .interim(status: 103, fields: [link]), .interim(status: 102, fields: []), .interim(status: 100, fields: []),
        next: nil, on: .api())
      let client = try scene.connect()
      for _ in 0..<3 { #expect(try await client.call("POST", "/api/upload", body: [1]).status == 200) }
    }
  }

  @Test(arguments: [
    ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"), ("GET", "HTTP/1.1 204 No Content\r\n\r\n"),
    ("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1000\r\nETag: \"x\"\r\n\r\n"),
    ("HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
  ])
  func `a response without a body is complete with its head`(method: String, raw: String) async throws {
    try await Scene.play(.open()) { scene async throws in
      scene.simulation.faults.add(.raw(Array(raw.utf8), keepsOpen: true))
      let client = try scene.connect()
      #expect(try await client.call(method, "/api/echo").body.isEmpty)
      #expect(try await client.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.map(\.connection) == [1, 1])
    }
  }

  @Test func `a head that never ends is answered 504`() async throws {
    let routes = "api: {path: /api, upstream: \"$API\", timeouts: {response: 150ms}}"
    try await Scene.play(.open(routes: routes)) { scene async throws in
      scene.simulation.faults.add(.pace(Pace(bytes: 1, pauseMilliseconds: 20)))
      let client = try scene.connect()
      let answer = try await client.call("GET", "/api/echo")
      #expect(answer.code == "upstream_timeout")
      #expect(try await client.call("GET", "/api/echo").status == 200)
    }
  }

  /// A challenge may stand in the body alone, so the body of such a 401 is waited for; but not for ever.
  @Test func `a 401 whose body stalls is handed on as far as it goes`() async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let raw = "HTTP/1.1 401 Unauthorized\r\nDPoP-Nonce: n\r\nContent-Type: application/json\r\n"
      let stalls = Fault.raw(Array("\(raw)Content-Length: 100\r\n\r\n{\"error\":".utf8), keepsOpen: true)
      scene.simulation.faults.add(stalls, on: .api())
      let client = try scene.connect()
      try await client.send(client.head("GET", "/api/echo"))
      let answer = try await client.readHead()
      #expect(answer.status == 401)
      #expect(try await client.read(bytes: 9) == Array("{\"error\":".utf8))
      await client.leave()
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.map(\.connection) == [1, 2])
    }
  }

  @Test func `a 401 of which no byte of the body comes is handed on as its head`() async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let raw = "HTTP/1.1 401 Unauthorized\r\nDPoP-Nonce: n\r\nContent-Type: application/json\r\n"
      for framing in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
        scene.simulation.faults.add(.raw(Array("\(raw)\(framing)\r\n\r\n".utf8), keepsOpen: true), on: .api())
        let client = try scene.connect()
        try await client.send(client.head("GET", "/api/echo"))
        #expect(try await client.readHead().status == 401)
        await client.leave()
      }
    }
  }

  /// Else the rest of the body would be read as a request: request smuggling by the gateway itself.
  @Test func `a body that is refused before it was asked for is not sent afterwards`() async throws {
    let received = AsyncStream.makeStream(of: UInt64?.self)
    let upstream = try RawUpstream { line, _ in
      guard line.nextHead() != nil else { return }
      // The answer goes on, and so does the connection.
      line.write("HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\nno")
      received.continuation.yield(line.bytesUntilEnd())
    }
    defer { upstream.stop() }
    let routes = "raw: {path: /raw, upstream: \"\(upstream.url)\", credential: machine}"
    try await Scene.play(.dpop(routes: routes)) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/raw", ["Transfer-Encoding: chunked"]) + "5\r\nabcde\r\n")
      let answer = try await client.readHead()
      #expect(answer.status == 403)
      #expect(answer.values(of: "connection") == ["close"])
      #expect(try await client.read(bytes: 2) == Array("no".utf8))
      let smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
      try await client.send("\(String(smuggled.utf8.count, radix: 16))\r\n\(smuggled)\r\n0\r\n\r\n")
      await client.finishSending()
      var bytes = received.stream.makeAsyncIterator()
      #expect(await bytes.next() == .some(0))
    }
  }

  // MARK: Connections that are dead

  @Test(arguments: [Fault.Ending.close, .reset])
  func `a kept connection that dies with the next request is no failure, if repeating it is safe`(
    ending: Fault.Ending
  ) async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call("GET", "/api/echo")
      for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] {
        scene.simulation.journal.clear()
        scene.simulation.faults.add(.drop(.head, ending), on: .api())
        let answer = try await client.call(method, "/api/echo", body: method == "PUT" ? [1, 2, 3] : nil)
        #expect(answer.status == 200, "\(method)")
        #expect(scene.arrived.count == 2)
        // C24: the second send has a proof of its own.
        #expect(Set(try scene.arrived.map { try SentProof($0).jti }).count == 2)
        #expect(Set(scene.arrived.map(\.connection)).count == 2)
      }
      scene.simulation.faults.add(.drop(.head, ending), on: .api())
      _ = try await client.call("GET", "/api/echo")
      #expect(try await scene.records().last?.attempts == 2)
    }
  }

  @Test(arguments: ["POST", "PATCH"])
  func `a request that may not be repeated is answered upstream_closed`(method: String) async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call("GET", "/api/echo")
      scene.simulation.faults.add(.drop(.after, .reset), on: .api())
      let answer = try await client.call(method, "/api/echo", body: [1])
      #expect(answer.code == "upstream_closed")
      #expect(scene.arrived.count == 2)
    }
  }

  @Test func `a new connection that dies is not tried again`() async throws {
    try await Scene.play(.open()) { scene async throws in
      scene.simulation.faults.add(.drop(.head, .close), next: nil, on: .api())
      #expect(try await scene.call("GET", "/api/echo").code == "upstream_closed")
      #expect(scene.arrived.count == 1)
    }
  }

  @Test func `a kept connection that dies twice in one exchange is given up`() async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call("GET", "/api/echo")
      scene.simulation.faults.add(.drop(.head, .reset), next: 2, on: .api())
      #expect(try await client.call("GET", "/api/echo").code == "upstream_closed")
      #expect(scene.arrived.count == 3)
    }
  }

  @Test(arguments: [Fault.Ending.close, .reset])
  func `an upstream that closes behind each answer without a word costs no request`(ending: Fault.Ending) async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      scene.simulation.faults.add(.closeAfterAnswer(ending), next: nil, on: .api())
      let client = try scene.connect()
      #expect(try await client.call(times: 20, "/api/echo").allSatisfy { $0.status == 200 })
    }
  }

  @Test func `an upstream that says it closes is believed`() async throws {
    try await Scene.play(.open()) { scene async throws in
      scene.simulation.faults.add(.addFields([HTTPField(name: "Connection", value: "close")]), next: nil, on: .api())
      let client = try scene.connect()
      #expect(try await client.call(times: 3, "/api/echo").allSatisfy { $0.status == 200 })
      #expect(scene.arrived.map(\.connection) == [1, 2, 3])
    }
  }
}
