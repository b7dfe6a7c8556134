import Cryptography
import HTTPWire
import Testing

@testable import Simulators

/// Bodies that are too large to be kept, in front of an API whose nonce is not known. RFC 9110 §10.1.1
@Suite(.timeLimit(.minutes(5))) struct UploadCaseTests {
  static let large = Pattern.bytes(20 << 20)

  private static func setup(_ rejection: APISettings.Rejection) -> Setup {
    .dpop(nonces: .once) { $0.api.rejection = rejection }
  }

  @Test(arguments: [APISettings.Rejection.earlyThenClose, .earlyThenRead])
  func `C21 an upload of 20 MiB is asked for first, and sent once`(rejection: APISettings.Rejection) async throws {
    try await Scene.play(Self.setup(rejection)) { scene async throws in
      let client = try scene.connect()
      let answer = try await client.call("PUT", "/api/upload", body: Self.large)
      #expect(answer.status == 200)
      #expect(answer.json["body_length"]?.int64Value == 20 << 20)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(try scene.last().body?.digest == SHA256.hash(Self.large))
      #expect(scene.arrived.allSatisfy { $0.values(of: "expect") == ["100-continue"] })
      // Now the nonce is known.
      #expect(try await client.call("PUT", "/api/upload", body: Self.large).status == 200)
      #expect(scene.arrived.count == 3)
    }
  }

  @Test func `C21 a caller that asks first is told to go on when the API wants the body`() async throws {
    try await Scene.play(Self.setup(.earlyThenClose)) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("PUT", "/api/upload", ["Expect: 100-continue"], bodyBytes: Self.large.count))
      #expect(try await client.readHead().status == 100)
      #expect(scene.arrived.first?.verdict == .nonceMissing)
      try await client.send(bytes: Self.large)
      let answer = try await client.read()
      #expect(answer.status == 200)
      #expect(answer.interim.isEmpty)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
    }
  }

  @Test func `C21 a caller that asks first is told 401 when the API will not have it`() async throws {
    let setup = Setup.dpop { settings in
      settings.api.rejection = .earlyThenClose
      settings.api.server.nonce.mode = .alwaysChallenge
    }
    try await Scene.play(setup) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("PUT", "/api/upload", ["Expect: 100-continue"], bodyBytes: Self.large.count))
      let answer = try await client.read()
      #expect(answer.status == 401)
      #expect(answer.interim.isEmpty)
      #expect(scene.arrived.count == 2)
    }
  }

  @Test func `C21 an upload of unknown length is asked for first as well`() async throws {
    try await Scene.play(Self.setup(.earlyThenClose)) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/api/upload", ["Transfer-Encoding: chunked"]))
      for start in stride(from: 0, to: Self.large.count, by: 1 << 20) {
        try await client.send("100000\r\n")
        try await client.send(bytes: Array(Self.large[start..<start + 1 << 20]))
        try await client.send("\r\n")
      }
      try await client.send("0\r\n\r\n")
      #expect(try await client.read().status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(try scene.last().body?.digest == SHA256.hash(Self.large))
      #expect(try scene.last().values(of: "transfer-encoding") == ["chunked"])
      #expect(try scene.last().values(of: "content-length").isEmpty)
    }
  }

  @Test func `C21 an API that ignores the question gets the body once, and its 401 is handed on`() async throws {
    try await Scene.play(Self.setup(.afterBody)) { scene async throws in
      scene.simulation.faults.add(.withholdContinue, on: .api())
      let client = try scene.connect()
      let answer = try await client.call("PUT", "/api/upload", body: Self.large)
      #expect(answer.status == 401)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing])
      #expect(try await client.call("PUT", "/api/upload", body: Self.large).status == 200)
      let records = try await scene.records()
      #expect(records.map(\.auth.last) == ["nonce_not_replayable", "cached"])
      #expect(records.map(\.requestBytes) == [20 << 20, 20 << 20])
    }
  }

  @Test func `C21 an API that closes in the middle of an upload is a clean 502`() async throws {
    try await Scene.play(Self.setup(.afterBody)) { scene async throws in
      _ = try await scene.call("GET", "/api/echo")
      // No 100 within a second: the body is on its way when the connection breaks.
      scene.simulation.faults.add(
        .withholdContinue, .delay(.head, milliseconds: 1_500), .drop(.head, .reset), on: .api())
      let answer = try await scene.call("POST", "/api/upload", body: Self.large)
      #expect(answer.status == 502)
      #expect(answer.code == "upstream_closed")
      #expect(scene.arrived.count { $0.path == "/upload" } == 1)
    }
  }
}
