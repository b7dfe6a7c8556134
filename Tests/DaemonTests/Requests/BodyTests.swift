import Cryptography
import HTTPWire
import Testing

@testable import Simulators

/// Request bodies: whole after every replay, framed as they came, passed on as they come.
@Suite(.timeLimit(.minutes(5))) struct BodyTests {
  static let sizes = [0, 1, 1_000, 16_384, 16_385, 65_535, 65_537, 262_144, 1 << 20]

  /// In chunks of odd sizes.
  private static func chunked(_ body: [UInt8]) -> [UInt8] {
    var coded: [UInt8] = []
    var (at, size) = (0, 1)
    while at < body.count {
      let end = min(at + size, body.count)
      coded += Array("\(String(end - at, radix: 16));x=\"y\"\r\n".utf8) + body[at..<end] + [13, 10]
      at = end
      size = size * 3 + 1
    }
    return coded + Array("0\r\n\r\n".utf8)
  }

  /// The API has forgotten its nonces and revoked its tokens.
  @Test(arguments: Self.sizes, ["POST", "PUT"])
  func `C79 a body is byte-equal after a nonce and after another token`(count: Int, method: String) async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call("GET", "/api/echo")
      scene.simulation.expireNonces(at: .api)
      scene.simulation.revokeTokens()
      scene.simulation.journal.clear()
      let body = Pattern.bytes(count)
      #expect(try await client.call(method, "/api/upload", body: body).status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceUnknown, .tokenRevoked, .accepted])
      for entry in scene.arrived {
        #expect(entry.method == method)
        #expect(entry.body?.digest == SHA256.hash(body))
        #expect(entry.values(of: "content-length") == ["\(count)"])
        #expect(entry.values(of: "transfer-encoding").isEmpty)
      }
    }
  }

  @Test(arguments: Self.sizes)
  func `C79 so is a chunked one, and it stays chunked`(count: Int) async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      _ = try await client.call("GET", "/api/echo")
      scene.simulation.expireNonces(at: .api)
      scene.simulation.journal.clear()
      let body = Pattern.bytes(count)
      try await client.send(client.head("POST", "/api/upload", ["Transfer-Encoding: chunked"]))
      try await client.send(bytes: Self.chunked(body))
      #expect(try await client.read().status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceUnknown, .accepted])
      for entry in scene.arrived {
        #expect(entry.body?.digest == SHA256.hash(body))
        #expect(entry.values(of: "transfer-encoding") == ["chunked"])
        #expect(entry.values(of: "content-length").isEmpty)
      }
    }
  }

  @Test func `no body stays no body, also when the request is sent again`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      #expect(try await scene.call("POST", "/api/upload").status == 200)
      #expect(scene.arrived.count == 2)
      for entry in scene.arrived {
        #expect(entry.values(of: "content-length").isEmpty && entry.values(of: "transfer-encoding").isEmpty)
      }
    }
  }

  /// The gateway hears the challenge while the caller is still sending.
  @Test func `a body that is still coming when the challenge is there goes into the replay`() async throws {
    try await Scene.play(.dpop(nonces: .once) { $0.api.rejection = .earlyThenRead }) { scene async throws in
      let client = try scene.connect()
      let body = Pattern.bytes(300_000)
      try await client.send(client.head("POST", "/api/upload", bodyBytes: body.count))
      try await client.send(bytes: Array(body[..<1_000]))
      let isRefused = await scene.simulation.journal.wait {
        $0.contains { $0.verdict == .nonceMissing && $0.status != nil }
      }
      #expect(isRefused)
      for start in stride(from: 1_000, to: body.count, by: 29_900) {
        try await client.send(bytes: Array(body[start..<min(start + 29_900, body.count)]))
      }
      #expect(try await client.read().status == 200)
      #expect(try scene.last().body?.digest == SHA256.hash(body))
    }
  }

  @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked"])
  func `a body that is sent byte by byte arrives whole`(framing: String) async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      let body = framing.contains("chunked") ? "2\r\nab\r\n3;e\r\ncde\r\n0\r\nX-Trailer: 1\r\n\r\n" : "abcde"
      try await client.sendByteByByte(client.head("POST", "/api/upload", [framing]) + body)
      #expect(try await client.read().status == 200)
      #expect(try scene.last().body?.kept == Array("abcde".utf8))
      #expect(try await client.call("GET", "/api/echo").status == 200)
    }
  }

  @Test(arguments: [
    "Content-Length: 5\r\nContent-Length: 5", "Content-Length: 5, 5", "Content-Length: 5\r\nTransfer-Encoding: chunked",
    "Content-Length: -1", "Content-Length: 0x5", "Content-Length: 9223372036854775808", "Content-Length:",
    "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: identity",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding : chunked", "Expect: 200-ok",
  ])
  func `framing that can be read two ways is refused and the connection closed`(fields: String) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/api/upload", [fields]) + "abcde")
      let answer = try await client.read()
      #expect(answer.status == 400)
      #expect(answer.code == "bad_request")
      #expect(try await client.isClosed())
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test(arguments: [
    "zz\r\n", "5\nabcde", "5\r\nabcdeX", "-1\r\n", "fffffffffffffffff\r\n", "5\r\nabcde\r\n0\r\nBad Trailer\r\n\r\n",
  ])
  func `a broken chunk ends the request with 400 and never reaches the API as a whole one`(body: String) async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/api/upload", ["Transfer-Encoding: chunked"]) + body)
      let answer = try await client.read()
      #expect(answer.status == 400)
      #expect(answer.code == "bad_request")
      #expect(try await client.isClosed())
      #expect(scene.arrived.allSatisfy { $0.verdict != .accepted })
    }
  }

  @Test(arguments: [true, false])
  func `a caller that asks before it sends is told to go on, once`(isBound: Bool) async throws {
    try await Scene.play(isBound ? .dpop(nonces: .once) : .bearer()) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/api/upload", ["Expect: 100-continue"], bodyBytes: 5))
      #expect(try await client.readHead().status == 100)
      try await client.send("abcde")
      let answer = try await client.read()
      #expect(answer.status == 200)
      #expect(answer.interim.isEmpty)
      #expect(try scene.last().body?.kept == Array("abcde".utf8))
    }
  }

  @Test func `a caller that asks before it sends and is refused by us is not told to go on`() async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/nowhere", ["Expect: 100-continue"], bodyBytes: 5))
      let answer = try await client.read()
      #expect(answer.status == 404)
      #expect(answer.interim.isEmpty)
    }
  }

  @Test func `requests sent ahead are answered in their order`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      let requests = (0..<20).map { client.head("POST", "/api/echo/\($0)", bodyBytes: 3) + "abc" }
      try await client.send(requests.joined())
      for index in 0..<20 {
        let answer = try await client.read()
        #expect(answer.status == 200)
        #expect(answer.json["target"]?.stringValue == "/echo/\(index)")
      }
    }
  }

  /// The second event comes in a minute.
  @Test func `C81 the first event of a stream arrives before the second is there`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("GET", "/api/stream?events=2&ms=60000"))
      #expect(try await client.readHead().status == 200)
      let event = "id: 0\ndata: event 0\n\n"
      let chunk = "\(String(event.utf8.count, radix: 16))\r\n\(event)\r\n"
      #expect(try await client.read(bytes: chunk.utf8.count) == Array(chunk.utf8))
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      await client.leave()
    }
  }

  @Test(arguments: BodyEncoding.allCases, [0, 1, 65_536, 1_000_003])
  func `a response body arrives whole, however it is framed`(encoding: BodyEncoding, count: Int) async throws {
    try await Scene.play(.open { $0.api.server.encoding = encoding }) { scene async throws in
      let client = try scene.connect()
      let answer = try await client.call("GET", "/api/bytes/\(count)")
      #expect(answer.body == Pattern.bytes(count))
      #expect(try await client.call("GET", "/api/bytes/3").body == [0, 1, 2])
    }
  }

  /// RFC 9112 §6.1: no chunks for it.
  @Test func `an HTTP/1.0 caller gets a body that ends with the connection`() async throws {
    try await Scene.play(.open { $0.api.server.encoding = .chunked }) { scene async throws in
      let client = try scene.connect()
      try await client.send("GET /api/bytes/1000 HTTP/1.0\r\nHost: 127.0.0.1:\(scene.port)\r\n\r\n")
      let answer = try await client.read()
      #expect(answer.status == 200)
      #expect(answer.values(of: "transfer-encoding").isEmpty)
      #expect(answer.body.count == 1_000)
    }
  }
}
