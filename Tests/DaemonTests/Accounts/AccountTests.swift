import Credentials
import Cryptography
import HTTPWire
import Testing

@testable import Simulators

/// Several accounts of a profile, several targets of an account, and what becomes of tokens when an account goes.
@Suite(.timeLimit(.minutes(5))) struct AccountTests {
  @Test func `an account is served beside the default one, each with its own key, tokens and refreshes`() async throws {
    let routes = """
      own: {path: /own, upstream: "$API", credential: acme}
      work: {path: /work, upstream: "$API", credential: acme/work}
      """
    try await Scene.play(.login(accounts: ["", "work"], nonces: .rotate, routes: routes)) { scene async throws in
      for _ in 0..<2 {
        for (path, subject) in [("/own/echo", "ada"), ("/work/echo", "work")] {
          #expect(try await scene.call("GET", path).status == 200)
          #expect(try scene.last().tokenClaim("sub")?.stringValue == subject)
        }
        scene.simulation.revokeTokens()
      }
      #expect(Set(try scene.arrived.map { try SentProof($0).thumbprint }).count == 2)
      let keys = try ["", "work"].map { try scene.grant($0).record.proofKeyThumbprint }
      #expect(Set(try scene.arrived.map { try SentProof($0).thumbprint }) == Set(keys.compactMap { $0 }))
      #expect(scene.simulation.grants.map(\.reuseCount) == [0, 0])
    }
  }

  @Test func `P31 a route without an account follows the default, and removing the default promotes none`() async throws
  {
    try await Scene.play(.login(accounts: ["home", "work"])) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(try scene.last().tokenClaim("sub")?.stringValue == "home")
      let (home, work) = (try scene.grant("home").record.id, try scene.grant("work").record.id)
      #expect(try scene.grant("home").record.isDefault && !scene.grant("work").record.isDefault)
      try await scene.restart { try scene.store.makeDefault(work) }
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(try scene.last().tokenClaim("sub")?.stringValue == "work")
      scene.simulation.journal.clear()
      try await scene.restart { _ = try scene.store.remove(work) }
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.code == "login_required")
      #expect(scene.arrived.isEmpty && scene.tokenRequests.isEmpty)
      #expect(try scene.store.records().map(\.id) == [home])
    }
  }

  @Test(arguments: ["refresh", "token_exchange"])
  func `two routes with two audiences of one login have a token each, from one grant`(targets: String) async throws {
    let audiences = ["https://orders.example/", "https://stock.example/"]
    let routes = """
      orders: {path: /orders, upstream: "$API", credential: acme, audience: "\(audiences[0])"}
      stock: {path: /stock, upstream: "$API", credential: acme, audience: "\(audiences[1])", scope: openid}
      """
    let setup = Setup.login(profile: "targets: \(targets)", routes: routes) {
      $0.authorizationServer.audiences = ["https://own.example/"] + audiences
    }
    try await Scene.play(setup) { scene async throws in
      for (path, audience) in zip(["/orders/echo", "/stock/echo", "/orders/echo"], audiences + [audiences[0]]) {
        #expect(try await scene.call("GET", path).status == 200)
        #expect(try scene.last().tokenClaim("aud")?.stringValue == audience)
      }
      #expect(Set(scene.arrived.map(\.token)).count == 2)
      #expect(Set(try scene.arrived.map { try SentProof($0).thumbprint }).count == 1)
      #expect(scene.refreshes.count == (targets == "refresh" ? 2 : 1))
      #expect(scene.simulation.grants.map(\.reuseCount) == [0])
    }
  }

  @Test func `P13 the same scopes in another order are one token`() async throws {
    let routes = """
      one: {path: /one, upstream: "$API", credential: acme, scope: openid profile}
      other: {path: /other, upstream: "$API", credential: acme, scope: profile openid}
      """
    try await Scene.play(.login(routes: routes)) { scene async throws in
      for path in ["/one/echo", "/other/echo"] { #expect(try await scene.call("GET", path).status == 200) }
      #expect(scene.refreshes.count == 1 && Set(scene.arrived.map(\.token)).count == 1)
    }
  }

  @Test func `C48 the key of a grant is the same at both servers, and after a restart`() async throws {
    try await Scene.play(.login(nonces: .once)) { scene async throws in
      let thumbprint = try #require(try scene.grant().record.proofKeyThumbprint)
      for _ in 0..<3 {
        #expect(try await scene.call("GET", "/api/echo").json["jkt"]?.stringValue == thumbprint)
        try await scene.restart { scene.simulation.revokeTokens() }
      }
      #expect(Set(try (scene.refreshes + scene.arrived).map { try SentProof($0).thumbprint }) == [thumbprint])
    }
  }

  /// `first` is made of the login's token, `second` of that one's.
  private static func exchanges() -> Setup {
    let routes = """
      one: {path: /one, upstream: "$API", credential: first}
      two: {path: /two, upstream: "$API", credential: second}
      """
    var setup = Setup.login(routes: routes)
    for (name, subject) in [("first", "acme"), ("second", "first")] {
      setup.credentials +=
        "\n"
        + Setup.acme("grant: token_exchange, subject_credential: \(subject)").replacing("acme: {", with: "\(name): {")
    }
    return setup
  }

  @Test func `when the subject of an exchange is logged out, what was exchanged for it is not served any more`()
    async throws
  {
    try await Scene.play(Self.exchanges()) { scene async throws in
      for path in ["/one/echo", "/two/echo"] { #expect(try await scene.call("GET", path).status == 200) }
      #expect(try scene.store.remove(try scene.grant().record.id))
      for path in ["/one/echo", "/two/echo"] {
        var answer = try await scene.call("GET", path)
        // The daemon looks every two seconds whether somebody else changed the store.
        while answer.status == 200 {
          try await Task.sleep(for: .milliseconds(50))
          answer = try await scene.call("GET", path)
        }
        #expect(["login_required", "token_refused"].contains(answer.code), "\(answer.text)")
      }
    }
  }

  @Test func `a subject token that was revoked is replaced, and the exchange made again`() async throws {
    try await Scene.play(Self.exchanges()) { scene async throws in
      #expect(try await scene.call("GET", "/one/echo").status == 200)
      scene.simulation.revokeTokens()
      scene.simulation.journal.clear()
      #expect(try await scene.call("GET", "/one/echo").status == 200)
      #expect(scene.refreshes.count == 1)
      #expect(scene.arrived.map(\.verdict) == [.tokenRevoked, .accepted])
    }
  }
}
