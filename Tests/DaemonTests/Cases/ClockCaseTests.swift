import HTTPWire
import Testing

@testable import Simulators

/// Clocks that differ, and proofs that would grow old while a request waits. RFC 9449 §4.3, §11.1
@Suite(.timeLimit(.minutes(5))) struct ClockCaseTests {
  private static func setup(_ nonces: NonceMode, clocksAheadSeconds: Int) -> Setup {
    .dpop(nonces: nonces) { settings in
      settings.api.server.clockOffsetSeconds = clocksAheadSeconds
      settings.authorizationServer.server.clockOffsetSeconds = clocksAheadSeconds
      settings.api.server.proofAgeSecondsMax = 10
      settings.authorizationServer.server.proofAgeSecondsMax = 10
    }
  }

  /// The challenge tells the time before the proof's own time is judged.
  @Test(arguments: [-90, 90])
  func `C57 a clock that is 90 s off is corrected by the first response's Date`(seconds: Int) async throws {
    try await Scene.play(Self.setup(.once, clocksAheadSeconds: seconds)) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
      #expect(scene.tokenRequests.map(\.verdict) == [.nonceMissing, .accepted])
    }
  }

  @Test(arguments: [-90, 90])
  func `C57 without nonces one request is refused, and no other`(seconds: Int) async throws {
    try await Scene.play(Self.setup(.off, clocksAheadSeconds: seconds)) { scene async throws in
      let client = try scene.connect()
      let first = try await client.call("GET", "/api/echo")
      #expect(first.status == 401)
      #expect(first.values(of: "www-authenticate").first?.contains("invalid_dpop_proof") == true)
      #expect(try await client.call(times: 5, "/api/echo").map(\.status) == Array(repeating: 200, count: 5))
      #expect(scene.arrived.map(\.verdict) == [.proofTime] + Array(repeating: .accepted, count: 5))
    }
  }

  /// Both clocks were looked at a moment before.
  @Test(arguments: [-200, 200])
  func `C57 a clock that jumps costs one request, and no other`(seconds: Int) async throws {
    try await Scene.play(Self.setup(.off, clocksAheadSeconds: 0)) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 200)
      scene.simulation.withSettings { $0.api.server.clockOffsetSeconds = seconds }
      // A token that is still good: only the proof's time is wrong.
      let statuses = try await client.call(times: 3, "/api/echo").map(\.status)
      #expect(statuses == [401, 200, 200])
      #expect(scene.arrived.map(\.verdict) == [.accepted, .proofTime, .accepted, .accepted])
    }
  }

  @Test func `C58 a proof is made when it is sent, however long the request waited for a token`() async throws {
    let setup = Setup.dpop(nonces: .once) { $0.api.server.proofAgeSecondsMax = 2 }
    let delay = Fault.delay(.before, milliseconds: 4_000)
    try await Scene.play(setup.after { $0.faults.add(delay, on: .token) }) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      for entry in scene.arrived {
        let issuedAt = try #require(try SentProof(entry).issuedAtUnixSeconds)
        // A second for the way, and one for the rounding.
        #expect((0..<2_000).contains(entry.receivedAtUnixMilliseconds - issuedAt * 1_000))
      }
    }
  }

  @Test func `C58 so it is after a challenge that came late`() async throws {
    let setup = Setup.dpop(nonces: .once) { $0.api.server.proofAgeSecondsMax = 2 }
    try await Scene.play(setup) { scene async throws in
      scene.simulation.faults.add(.delay(.after, milliseconds: 4_000), on: .api())
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.arrived.map(\.verdict) == [.nonceMissing, .accepted])
    }
  }
}
