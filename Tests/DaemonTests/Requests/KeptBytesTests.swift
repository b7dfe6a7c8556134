import HTTPWire
import Testing

@testable import Simulators

/// `replay_total`: memory for all that is kept, whatever the loop, and what happens when it is used up.
@Suite(.timeLimit(.minutes(5))) struct KeptBytesTests {
  private static let kibibyte = "replay_limit: 1KiB\nreplay_total: 1KiB"

  @Test func `a body may use all of replay_total, however many loops there are`() async throws {
    var setup = Setup.dpop(nonces: .rotate, more: Self.kibibyte)
    setup.threads = 4
    try await Scene.play(setup) { scene async throws in
      // Its length is not known beforehand: it is kept when it has come.
      let client = try scene.connect()
      let body = String(repeating: "x", count: 1_024)
      try await client.send(client.head("POST", "/api/upload", ["Transfer-Encoding: chunked"]))
      try await client.send("400\r\n\(body)\r\n0\r\n\r\n")
      #expect(try await client.read().status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(try scene.last().body?.kept == Array(body.utf8))
    }
  }

  private static func refusal(_ fields: String, bodyBytes: Int) -> Fault {
    let body = String(repeating: " ", count: bodyBytes)
    return .raw(
      Array("HTTP/1.1 401 Unauthorized\r\n\(fields)\r\nContent-Length: \(bodyBytes)\r\n\r\n\(body)".utf8),
      keepsOpen: true)
  }

  private static let invalidToken = "WWW-Authenticate: DPoP error=\"invalid_token\""
  private static let bareNonce = "DPoP-Nonce: n\r\nContent-Type: application/json"

  @Test(arguments: [invalidToken, bareNonce])
  func `a refused answer that there is no room to hold is delivered as it is`(fields: String) async throws {
    try await Scene.play(.dpop(more: Self.kibibyte)) { scene async throws in
      let client = try scene.connect()
      scene.simulation.faults.add(Self.refusal(fields, bodyBytes: 1_025), on: .api())
      let answer = try await client.call("GET", "/api/echo")
      #expect(answer.status == 401)
      #expect(answer.body == Array(repeating: UInt8(ascii: " "), count: 1_025))
      #expect(scene.arrived.count == 1)
      // What was held is free again, and there is another token if there has to be one.
      #expect(try await client.call("GET", "/api/echo").status == 200)
      #expect(scene.tokenRequests.count == (fields == Self.invalidToken ? 2 : 1))
    }
  }

  @Test func `one that there is room for is held while another token is fetched`() async throws {
    try await Scene.play(.dpop(more: Self.kibibyte)) { scene async throws in
      scene.simulation.faults.add(Self.refusal(Self.invalidToken, bodyBytes: 1_024), on: .api())
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.count == 2)
    }
  }
}
