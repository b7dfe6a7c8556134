import Credentials
import Cryptography
import Foundation
import HTTPWire
import Testing

@testable import Simulators

/// Edge cases that clients of identity providers usually get wrong, by their numbers in the project's collection, as far as
/// they are no single provider's.
@Suite(.timeLimit(.minutes(5))) struct ProviderCaseTests {
  @Test(arguments: [
    (Fault.answer(Answer(status: 400)), "400"), (.answer(Answer(status: 502)), "502"),
    (.drop(.after, .close), "closed"),
  ])
  func `P6 an answer without a word is told with all there is to tell`(fault: Fault, told: String) async throws {
    try await Scene.play(Setup.login().adding(fault)) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(["token_unavailable", "token_refused"].contains(answer.code))
      let log = try await scene.log().filter { $0.event == "oauth" && $0.error != nil }
      #expect(!log.isEmpty)
      #expect("\(answer.text) \(log.map(\.json))".contains(told), "\(answer.text)")
    }
  }

  @Test func `P11 a renewed ID token without session_expiry leaves the end of the session where it is`() async throws {
    let end = Int64(Date().timeIntervalSince1970) + 600
    let setup = Setup.login { $0.authorizationServer.tokenLifetimeSeconds = 3_600 }
      .changingGrant { $0.record.sessionExpiresAtUnixSeconds = end }
    try await Scene.play(setup) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      let renewed = try scene.grant()
      #expect(renewed.record.rotation == 1 && renewed.record.sessionExpiresAtUnixSeconds == end)
    }
  }

  @Test func `P11 after the end of the session nothing is renewed and nothing is sent`() async throws {
    let setup = Setup.login().changingGrant { $0.record.sessionExpiresAtUnixSeconds = 1_700_000_000 }
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.code == "login_required")
      #expect(scene.tokenRequests.isEmpty && scene.arrived.isEmpty)
    }
  }

  @Test func `P17 P18 a nonce is kept from whatever answer it came with, and an answer without one takes none away`()
    async throws
  {
    let offer = HTTPField(name: "DPoP-Nonce", value: "from-an-error")
    try await Scene.play(.dpop()) { scene async throws in
      let client = try scene.connect()
      scene.simulation.faults.add(.answer(.text(500, "no", fields: [offer])), on: .api())
      #expect(try await client.call("GET", "/api/echo").status == 500)
      for _ in 0..<3 {
        #expect(try await client.call("GET", "/api/echo").status == 200)
        #expect(try SentProof(try scene.last()).nonce == "from-an-error")
      }
    }
  }

  @Test func `P20 a grant whose key is gone is told so, sent nowhere, and not thrown away`() async throws {
    let setup = Setup.login().changingGrant { $0.secrets.proofKey = nil }
    try await Scene.play(setup) { scene async throws in
      for answer in try await scene.callAll(10, "/api/echo") { #expect(answer.code == "login_required") }
      #expect(scene.tokenRequests.isEmpty && scene.arrived.isEmpty)
      #expect(try scene.grant().secrets.refreshToken != nil)
    }
  }

  @Test func `P20 nor is one with another key than it is bound to`() async throws {
    let other = try ProofKey.generate().exportPrivate()
    let setup = Setup.login().changingGrant { $0.secrets.proofKey = other }
    try await Scene.play(setup) { scene async throws in
      for answer in try await scene.callAll(10, "/api/echo") { #expect(answer.code == "login_required") }
      #expect(scene.tokenRequests.isEmpty && scene.arrived.isEmpty)
    }
  }

  @Test func `P21 each origin has its own nonces, and both accounts their own`() async throws {
    try await Scene.play(.login(nonces: .rotate)) { scene async throws in
      for _ in 0..<3 { #expect(try await scene.call("GET", "/api/echo").status == 200) }
      let api = Set(try scene.arrived.compactMap { try SentProof($0).nonce })
      let server = Set(try scene.tokenRequests.compactMap { try SentProof($0).nonce })
      #expect(!api.isEmpty && !server.isEmpty && api.isDisjoint(with: server))
      #expect(scene.arrived.count { $0.verdict != .accepted } == 1)
      #expect(try scene.grant().secrets.authorizationServerNonce != nil)
    }
  }

  @Test func `P25 429 without Retry-After or Date is no reason to try again at once`() async throws {
    let fault = Fault.raw(Array("HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n".utf8), keepsOpen: false)
    try await Scene.play(Setup.login().adding(fault)) { scene async throws in
      for answer in try await scene.callAll(20, "/api/echo") {
        #expect(answer.code == "token_unavailable")
        #expect(!answer.values(of: "retry-after").isEmpty)
      }
      #expect(scene.tokenRequests.count == 1)
    }
  }

  @Test(arguments: [-90, 90])
  func `C57 P27 a clock that is wrong neither fails a refresh nor makes another`(seconds: Int) async throws {
    let setup = Setup.login(nonces: .once) { settings in
      settings.authorizationServer.server.clockOffsetSeconds = seconds
      settings.api.server.clockOffsetSeconds = seconds
      settings.authorizationServer.server.proofAgeSecondsMax = 10
      settings.api.server.proofAgeSecondsMax = 10
    }
    try await Scene.play(setup) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call(times: 5, "/api/echo").map(\.status) == Array(repeating: 200, count: 5))
      #expect(scene.refreshes.map(\.verdict) == [.nonceMissing, .accepted])
      try await scene.restart()
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.refreshes.count == 2)
    }
  }

  @Test func `P34 a refresh that hangs holds up no other account, nor a look at the accounts`() async throws {
    let routes = """
      own: {path: /own, upstream: "$API", credential: acme}
      work: {path: /work, upstream: "$API", credential: acme/work}
      """
    try await Scene.play(.login(accounts: ["", "work"], routes: routes)) { scene async throws in
      for path in ["/own/echo", "/work/echo"] { #expect(try await scene.call("GET", path).status == 200) }
      let grant = try #require(scene.simulation.grants.first { $0.subject == "ada" })
      scene.simulation.faults.add(.hold(.after, gate: "hung"), on: .refreshed(grant.id))
      scene.simulation.revokeTokens()
      async let hung = scene.call("GET", "/own/echo")
      let isHung = await scene.simulation.journal.wait { entries in
        entries.contains { $0.tokenRequest?.grant == grant.id && $0.tokenRequest?.rotation == 1 }
      }
      #expect(isHung)
      #expect(try await scene.call("GET", "/work/echo").status == 200)
      #expect(try scene.store.records().count == 2)
      scene.simulation.faults.gates.open("hung")
      #expect(try await hung.status == 200)
    }
  }

  @Test func `P37 a token is in the store before the first request that carries it`() async throws {
    try await Scene.play(.login()) { scene async throws in
      scene.simulation.faults.add(.hold(.head, gate: "api"), on: .api())
      async let answer = scene.call("GET", "/api/echo")
      let hasArrived = await scene.simulation.journal.wait { $0.contains { $0.role == .api } }
      #expect(hasArrived)
      let grant = try scene.grant()
      #expect(grant.record.rotation == 1)
      let token = try #require(scene.arrived.first?.token)
      #expect(try scene.store.tokens(of: grant.record.id).contains { $0.accessToken == Secret(utf8: token) })
      scene.simulation.faults.gates.open("api")
      #expect(try await answer.status == 200)
    }
  }

  @Test func `P41 a family that the server has revoked needs a login, is asked for once, and stays in the store`()
    async throws
  {
    let setup = Setup.login()
    try await Scene.play(setup) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      scene.simulation.revokeGrant(1)
      scene.simulation.revokeTokens()
      try await scene.restart()
      scene.simulation.journal.clear()
      for _ in 0..<3 {
        let answer = try await scene.call("GET", "/api/echo")
        #expect([401, 511].contains(answer.status))
      }
      #expect(scene.refreshes.count == 1)
      #expect(try scene.grant().record.condition == .refused)
      #expect(try scene.grant().secrets.refreshToken != nil)
      // P5: that a login is worthless by now shows only when it is used.
      #expect(scene.arrived.allSatisfy { $0.verdict == .tokenRevoked })
    }
  }
}
