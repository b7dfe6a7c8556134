import HTTPWire
import Testing

@testable import Simulators

/// Fields behind a chunked body pass in both directions, and only those that may (RFC 9110 §6.5).
@Suite(.timeLimit(.minutes(5))) struct TrailerTests {
  private static let chunked = "Transfer-Encoding: chunked"
  private static let end = "0\r\nX-Checksum: abc\r\nAuthorization: Bearer mine\r\nContent-Length: 9\r\nX-Two:\r\n\r\n"

  private func arrived(_ entry: JournalEntry) -> String { String(decoding: entry.body?.trailers ?? [], as: UTF8.self) }

  @Test func `a request's trailers arrive, announced, without those that no trailer may be`() async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      try await client.send(
        client.head("POST", "/api/upload", [Self.chunked, "Trailer: X-Checksum, Authorization"]) + "2\r\nok\r\n"
          + Self.end)
      #expect(try await client.read().status == 200)
      let entry = try scene.last()
      #expect(arrived(entry) == "X-Checksum: abc\r\nX-Two: \r\n")
      #expect(entry.values(of: "trailer") == ["X-Checksum"])
      #expect(entry.body?.kept == Array("ok".utf8))
      // The connection goes on.
      #expect(try await client.call("GET", "/api/echo").status == 200)
      #expect(try scene.last().body?.trailers.isEmpty != false)
    }
  }

  @Test func `a request that is sent again has its trailers again`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      try await client.sendByteByByte(
        client.head("POST", "/api/upload", [Self.chunked]) + "2\r\nok\r\n" + Self.end)
      #expect(try await client.read().status == 200)
      #expect(scene.arrived.count == 2)
      #expect(arrived(try scene.last()) == "X-Checksum: abc\r\nX-Two: \r\n")
      #expect(try scene.last().body?.kept == Array("ok".utf8))
    }
  }

  @Test func `trailers that the client breaks are refused, and those of no chunked request are none`() async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/api/upload", [Self.chunked]) + "0\r\nA b\r\n\r\n")
      #expect(try await client.read().status == 400)
      let other = try scene.connect()
      _ = try await other.call("POST", "/api/upload", ["Trailer: X-Checksum"], body: Array("ok".utf8))
      #expect(try scene.last().values(of: "trailer").isEmpty)
    }
  }

  private func answer(_ trailers: [HTTPField], _ encoding: BodyEncoding = .chunked) -> Fault {
    .answer(
      Answer(
        status: 200, fields: [HTTPField(name: "Trailer", value: "Grpc-Status, Set-Cookie")],
        body: .bytes(Array("text".utf8)),
        encoding: encoding, trailers: trailers))
  }

  private static let trailers = [
    HTTPField(name: "Grpc-Status", value: "0"), HTTPField(name: "Set-Cookie", value: "a=b"),
    HTTPField(name: "DPoP-Nonce", value: "n"), HTTPField(name: "Proofd-Error", value: "x"),
    HTTPField(name: "X-Sum", value: "6"),
  ]

  @Test func `a response's trailers arrive, announced, without those that no trailer may be`() async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let client = try scene.connect()
      scene.simulation.faults.add(answer(Self.trailers), on: .api())
      let response = try await client.call("GET", "/api/echo", ["TE: trailers", "Connection: TE"])
      #expect(response.text == "text")
      #expect(response.trailers == ["Grpc-Status: 0", "X-Sum: 6"])
      #expect(response.values(of: "trailer") == ["Grpc-Status"])
      #expect(try scene.last().values(of: "te") == ["trailers"])
      #expect(try scene.last().values(of: "connection") == ["TE"])
      // They are not the next answer's.
      scene.simulation.faults.add(answer([]), on: .api())
      #expect(try await client.call("GET", "/api/echo").trailers.isEmpty)
      #expect(try scene.last().values(of: "te").isEmpty)
    }
  }

  @Test func `who gets no chunks gets no trailers`() async throws {
    try await Scene.play(.open()) { scene async throws in
      scene.simulation.faults.add(answer(Self.trailers), on: .api())
      let older = try scene.connect()
      try await older.send("GET /api/echo HTTP/1.0\r\nHost: 127.0.0.1:\(scene.port)\r\nTE: trailers\r\n\r\n")
      let all = String(decoding: try await older.readToEnd(), as: UTF8.self)
      #expect(all.hasSuffix("\r\n\r\ntext"))
      #expect(!all.contains("Trailer"))
      #expect(try scene.last().values(of: "te").isEmpty)
      scene.simulation.faults.add(answer([], .contentLength))
      #expect(try await scene.call("GET", "/api/echo").values(of: "trailer").isEmpty)
    }
  }
}
