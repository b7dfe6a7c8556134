import HTTPWire
import Testing

@testable import Simulators

/// When tokens are fetched, and how often. Counted at the token endpoint.
@Suite(.timeLimit(.minutes(5))) struct TokenLifeTests {
  @Test func `C63 two hundred parallel requests at expiry are one token request`() async throws {
    var setup = Setup.dpop { $0.authorizationServer.tokenLifetimeSeconds = 1 }
    setup.threads = 2
    try await Scene.play(setup) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      scene.simulation.withSettings { $0.authorizationServer.tokenLifetimeSeconds = 300 }
      let isIssued = scene.tokenRequests.count == 1
      #expect(isIssued)
      try await Task.sleep(for: .milliseconds(1_100))  // the life of the token
      let answers = try await scene.callAll(200, "/api/echo")
      #expect(answers.count == 200)
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(scene.tokenRequests.count == 2)
      #expect(scene.arrived.allSatisfy { $0.verdict == .accepted })
      #expect(Set(scene.arrived.dropFirst().map(\.token)).count == 1)
    }
  }

  @Test func `two hundred parallel requests without a token are one token request`() async throws {
    let hold = Fault.hold(.before, gate: "token")
    var setup = Setup.dpop().after { $0.faults.add(hold, next: nil, on: .token) }
    setup.threads = 2
    try await Scene.play(setup) { scene async throws in
      async let answers = scene.callAll(200, "/api/echo")
      let isAsked = await scene.simulation.journal.wait { $0.contains { $0.path == "/token" } }
      #expect(isAsked)
      scene.simulation.faults.gates.open("token")
      #expect(try await answers.allSatisfy { $0.status == 200 })
      #expect(scene.tokenRequests.count == 1)
    }
  }

  @Test func `fifty parallel requests whose token is revoked are one token request`() async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      _ = try await scene.call("GET", "/api/echo")
      scene.simulation.revokeTokens()
      scene.simulation.journal.clear()
      let answers = try await scene.callAll(50, "/api/echo")
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(scene.tokenRequests.count == 1)
      #expect(scene.arrived.count { $0.verdict == .accepted } == 50)
    }
  }

  @Test(arguments: [InvalidToken.Challenge.dpop, .bearer])
  func `an API that refuses every token costs two refreshes in a thousand requests`(
    challenge: InvalidToken.Challenge
  ) async throws {
    try await Scene.play(.dpop { $0.api.invalidToken = InvalidToken(challenge: challenge) }) { scene async throws in
      let client = try scene.connect()
      let answers = try await client.call(times: 1_000, "/api/echo")
      #expect(answers.allSatisfy { $0.status == 401 && $0.code == nil })
      #expect(scene.tokenRequests.count <= 3)
      #expect(scene.arrived.count <= 1_002)
    }
  }

  @Test func `nonces that rotate on every 200 cost nothing: a thousand requests are a thousand`() async throws {
    try await Scene.play(.dpop(nonces: .rotate)) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 200)
      scene.simulation.journal.clear()
      let answers = try await client.call(times: 1_000, "/api/echo")
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(scene.arrived.count == 1_000)
      #expect(scene.arrived.allSatisfy { $0.verdict == .accepted })
      #expect(scene.tokenRequests.isEmpty)
    }
  }

  @Test func `nor do they on sixteen connections, if the API still takes the one before`() async throws {
    let setup = Setup.dpop { settings in
      settings.api.server.nonce = NoncePolicy(.rotate, previousAccepted: 32)
    }
    try await Scene.play(setup) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      scene.simulation.journal.clear()
      try await withThrowingTaskGroup(of: [WireResponse].self) { group in
        for _ in 0..<16 { group.addTask { try await scene.connect().call(times: 20, "/api/echo") } }
        for try await answers in group { #expect(answers.allSatisfy { $0.status == 200 }) }
      }
      #expect(scene.arrived.count == 320)
    }
  }

  /// Then most nonces are stale when they arrive. What matters is that nobody goes on trying.
  @Test func `on sixteen connections to an API that takes the newest only, no request is sent more than three times`()
    async throws
  {
    try await Scene.play(.dpop(nonces: .rotate)) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      try await withThrowingTaskGroup(of: [WireResponse].self) { group in
        for _ in 0..<16 { group.addTask { try await scene.connect().call(times: 10, "/api/echo") } }
        for try await answers in group { #expect(answers.allSatisfy { $0.status == 200 || $0.status == 401 }) }
      }
      let arrived = scene.arrived
      #expect(Set(try arrived.map { try SentProof($0).jti }).count == arrived.count)
      let attempts = try await scene.records().compactMap(\.attempts)
      #expect(attempts.count == 161)
      #expect(attempts.allSatisfy { (1...3).contains($0) })
      #expect(attempts.reduce(0, +) == Int64(arrived.count))
    }
  }

  /// The API's clock is a second behind, so that it takes a token until after its end.
  @Test func `C59 a token in use is replaced before it ends, and nobody notices`() async throws {
    let setup = Setup.dpop(nonces: .rotate) { settings in
      settings.authorizationServer.tokenLifetimeSeconds = 2
      settings.api.server.clockOffsetSeconds = -1
    }
    try await Scene.play(setup) { scene async throws in
      let client = try scene.connect()
      while Set(scene.arrived.map(\.token)).count < 3 {
        #expect(try await client.call("GET", "/api/echo").status == 200)
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(scene.arrived.dropFirst().allSatisfy { $0.verdict == .accepted })
      let issued = scene.tokenRequests.filter { $0.verdict == .accepted }.map(\.receivedAtUnixMilliseconds)
      #expect(issued.count == 3)
      for (token, issuedAt) in zip(scene.arrived.map(\.token).firstAppearances, issued) {
        let lastUse = scene.arrived.last { $0.token == token }?.receivedAtUnixMilliseconds
        #expect(try #require(lastUse) - issuedAt < 2_000)
      }
    }
  }

  @Test func `routes with the same target share a token, others have their own`() async throws {
    let routes = """
      one: {path: /one, upstream: "$API", credential: machine}
      two: {path: /two, upstream: "$API/echo", credential: machine}
      read: {path: /read, upstream: "$API", credential: machine, scope: read write}
      other: {path: /other, upstream: "$API", credential: machine, audience: "https://other.example/", resource: "https://r.example/"}
      """
    try await Scene.play(.dpop(routes: routes)) { scene async throws in
      for target in ["/one/echo", "/two", "/one/echo", "/read/scope/write", "/other/echo"] {
        _ = try await scene.call("GET", target)
      }
      #expect(scene.arrived.prefix(4).map(\.status) == [200, 200, 200, 200])
      #expect(Set(scene.arrived.prefix(3).map(\.token)).count == 1)
      #expect(scene.arrived.dropFirst(4).allSatisfy { $0.verdict == .tokenAudience })
      let forms = Set(scene.tokenRequests.map { FormURLEncoded.text($0.form) })
      let grant = "grant_type=client_credentials"
      #expect(
        forms == [
          grant, "\(grant)&scope=read write", "\(grant)&audience=https://other.example/&resource=https://r.example/",
        ])
    }
  }
}

extension FormURLEncoded {
  /// A form with its parameters in order of their names, to be compared.
  fileprivate static func text(_ form: [(String, String)]) -> String {
    let order = ["grant_type", "scope", "audience", "resource"]
    return form.sorted { (order.firstIndex(of: $0.0) ?? 9) < (order.firstIndex(of: $1.0) ?? 9) }
      .map { "\($0.0)=\($0.1)" }.joined(separator: "&")
  }
}

extension [String?] {
  /// Each value once, in the order of their first appearances.
  fileprivate var firstAppearances: [String?] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
