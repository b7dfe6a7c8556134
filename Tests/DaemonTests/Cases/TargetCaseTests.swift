import HTTPWire
import Testing

@testable import Simulators

/// `htu`, and what a proxy may do to it. RFC 9449 §4.2, §4.3
@Suite(.timeLimit(.minutes(5))) struct TargetCaseTests {
  @Test(arguments: ["?a=1&b=%23", "?", "?a?b", "?htu=http://x/", "?a=/../b#".replacing("#", with: "%23")])
  func `C31 a query is never in htu`(query: String) async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo\(query)").status == 200)
      for entry in scene.arrived {
        #expect(try SentProof(entry).htu == "\(scene.simulation.api.url)/echo")
        #expect(entry.target == "/echo\(query)")
      }
    }
  }

  @Test func `C32 htu is the upstream's URL, not the one the caller used`() async throws {
    let routes = "api: {path: /api, upstream: \"$API/echo/v1\", credential: machine}"
    try await Scene.play(.dpop(routes: routes)) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/x?y", ["Referer: http://127.0.0.1/"]).status == 200)
      #expect(try await client.call("GET", "http://127.0.0.1:\(scene.port)/api/x?y").status == 200)
      try await client.send(client.head("GET", "/x?y", host: "api.localhost:\(scene.port)"))
      #expect(try await client.read().status == 200)
      for entry in scene.arrived { #expect(try SentProof(entry).htu == "\(scene.simulation.api.url)/echo/v1/x") }
    }
  }

  /// The simulator compares strings; here the URLs are compared as RFC 3986 §6.2.2 and §6.2.3 have it.
  @Test(arguments: [
    "/echo", "/echo/", "/echo//x", "/echo/a%2Fb", "/echo/~x", "/echo/%7Ex", "/echo/a;b=c", "/echo/\u{25}C3%A9",
  ])
  func `C33 htu holds before verifiers that compare strings and before those that normalise`(path: String) async throws
  {
    try await Scene.play(.dpop()) { scene async throws in
      #expect(try await scene.call("GET", "/api\(path)").status == 200)
      let entry = try scene.last()
      let htu = try HTTPURL(parsing: try #require(try SentProof(entry).htu))
      let host = try #require(entry.values(of: "host").first)
      #expect(htu == (try HTTPURL(parsing: "http://\(host)\(entry.target)")))
      #expect(htu.description == (try SentProof(entry).htu))
    }
  }

  @Test func `C36 an API behind a proxy that rewrites gets the htu it computes itself`() async throws {
    let routes = """
      api: {path: /api, upstream: "$API", credential: machine, htu_base: "https://api.example.com/base"}
      bare: {path: /bare, upstream: "$API", credential: machine}
      """
    let setup = Setup.dpop(routes: routes) { $0.api.server.externalURL = "https://api.example.com/base" }
    try await Scene.play(setup) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo/x?q").status == 200)
      #expect(try SentProof(scene.last()).htu == "https://api.example.com/base/echo/x")
      #expect(try scene.last().values(of: "host") == ["127.0.0.1:\(scene.simulation.api.port)"])
      #expect(try await scene.call("GET", "/bare/echo/x").status == 401)
      #expect(try scene.last().verdict == .proofURL)
    }
  }

  @Test func `a verifier that decodes the path gets it decoded where the route says so`() async throws {
    let routes = "api: {path: /api, upstream: \"$API\", credential: machine, htu_path: decoded}"
    try await Scene.play(.dpop(routes: routes)) { scene async throws in
      _ = try await scene.call("GET", "/api/echo/a%2Fb%40c%7E?q=%20")
      #expect(try SentProof(scene.last()).htu == "\(scene.simulation.api.url)/echo/a/b@c~")
      #expect(try scene.last().target == "/echo/a%2Fb%40c%7E?q=%20")
      // What no URL holds, no htu holds.
      #expect(try await scene.call("GET", "/api/echo/a%20b").code == "bad_request")
      #expect(scene.arrived.count == 1)
    }
  }

  @Test(arguments: [
    "http:///api/echo", "http://", "http:/api", "//", "///api/echo", "/api/%zz", "/api/\u{7f}", "/api/a b", "?x", "#",
    "/api/echo#f", "*", "", "null", "/api/..//echo", "http://user@127.0.0.1/api/echo",
  ])
  func `C38 a malformed target is refused before anything is signed`(target: String) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("GET", target))
      let answer = try await client.read()
      #expect([400, 404].contains(answer.status))
      #expect(answer.code != nil)
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test(arguments: [301, 302, 303, 307, 308])
  func `C39 a redirect is handed on, and the next request has a proof of its own`(status: Int) async throws {
    try await Scene.play(.dpop(nonces: .once)) { scene async throws in
      let client = try scene.connect()
      let answer = try await client.call("GET", "/api/status/\(status)?location=/echo/elsewhere")
      #expect(answer.status == status)
      #expect(try await client.call("GET", "/api/echo/elsewhere").status == 200)
      let proofs = try scene.arrived.map { try SentProof($0) }
      #expect(Set(proofs.map(\.jti)).count == proofs.count)
      #expect(proofs.last?.htu == "\(scene.simulation.api.url)/echo/elsewhere")
      #expect(scene.arrived.filter { $0.path.hasPrefix("/echo") }.count == 1)
    }
  }

  @Test(arguments: ["/echo/a%2Fb", "/echo/a%2fb", "/echo/%41", "/echo/%7e"])
  func `C40 the path is not decoded`(path: String) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      #expect(try await scene.call("GET", "/api\(path)").status == 200)
      #expect(try scene.last().target == path)
      #expect(try SentProof(scene.last()).htu == scene.simulation.api.url + path)
    }
  }

  @Test func `C41 a trailing slash makes another resource`() async throws {
    try await Scene.play(.dpop()) { scene async throws in
      for path in ["/echo/credential", "/echo/credential/", "/echo/credential//"] {
        #expect(try await scene.call("GET", "/api\(path)").status == 200)
        #expect(try scene.last().target == path)
        #expect(try SentProof(scene.last()).htu == scene.simulation.api.url + path)
      }
    }
  }

  @Test func `C43 which credential is used depends on the route, never on the upstream's host`() async throws {
    var setup = Setup.dpop(nonces: .once) {
      $0.authorizationServer.clients.append(SimulatedClient(id: "other", secret: Setup.clientSecret))
    }
    setup.credentials = [Setup.machine(), Setup.machine(name: "other", client: "other")].joined(separator: "\n")
    setup.routes =
      "api: {path: /api, upstream: \"$API\", credential: machine}\n"
      + "other: {path: /other, upstream: \"$API\", credential: other}\nnone: {path: /none, upstream: \"$API\"}"
    try await Scene.play(setup) { scene async throws in
      let client = try scene.connect()
      for _ in 0..<3 {
        #expect(try await client.call("GET", "/api/echo/m").status == 200)
        #expect(try await client.call("GET", "/other/echo/o").status == 200)
        #expect(try await client.call("GET", "/none/echo/n").status == 401)
      }
      let tokens = ["m", "o", "n"].map { path in Set(scene.arrived.filter { $0.path == "/echo/\(path)" }.map(\.token)) }
      #expect(tokens[0].count == 1 && tokens[1].count == 1 && tokens[0] != tokens[1])
      #expect(tokens[2] == [nil])
      #expect(Set(try scene.arrived.filter { $0.token != nil }.map { try SentProof($0).thumbprint }).count == 2)
    }
  }
}
