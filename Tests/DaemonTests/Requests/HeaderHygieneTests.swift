import HTTPWire
import Testing

@testable import Simulators

/// Which fields pass and which don't.
@Suite(.timeLimit(.minutes(5))) struct HeaderHygieneTests {
  static let stripped = [
    // Hop by hop. RFC 9110 §7.6.1
    "Connection: keep-alive", "Keep-Alive: timeout=5", "TE: gzip", "Trailer: X-Sum", "Upgrade: websocket",
    "Proxy-Connection: keep-alive", "Proxy-Authorization: Basic eDp5", "Proxy-Authenticate: Basic",
    "Proxy-Authentication-Info: x",
    // A server that honours these computes another htu.
    "Forwarded: for=1.2.3.4;proto=https;host=x", "X-Forwarded-For: 1.2.3.4", "X-Forwarded-Host: evil.example",
    "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /x", "X-Forwarded-Port: 1", "x-forwarded-anything: 1",
    "X-Original-URL: /x", "X-Rewrite-URL: /x", "X_Forwarded_For: 1.2.3.4", "x_original-url: /x",
    // Ours to say.
    "Authorization: Bearer of-the-caller", "DPoP: of-the-caller", "dpop: twice", "DPoP-Nonce: of-the-caller",
    "DPoP_Nonce: of-the-caller", "Proofd-Anything: 1", "Proxy_Authorization: Basic eDp5",
  ]

  @Test(arguments: Self.stripped)
  func `C76 a field that concerns this hop or the credential stays here`(field: String) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo", [field, "X-Passes: yes"])
      #expect(answer.status == 200)
      let entry = try scene.last()
      let name = try #require(field.split(separator: ":").first).lowercased()
      let ours = ["authorization", "dpop"].contains(name)
      #expect(entry.values(of: name).count == (ours ? 1 : 0))
      #expect(!entry.fields.contains { $0.value.contains("of-the-caller") || $0.value == "twice" })
      #expect(entry.values(of: "x-passes") == ["yes"])
    }
  }

  @Test func `C76 fields that Connection names stay here, whatever their case`() async throws {
    try await Scene.play(.open()) { scene async throws in
      try await scene.call(
        "GET", "/api/echo",
        ["Connection: X-One, x-two ,close", "Connection: X-THREE", "X-One: 1", "X-Two: 2", "x-three: 3", "X-Four: 4"])
      let entry = try scene.last()
      for name in ["x-one", "x-two", "x-three", "connection"] { #expect(entry.values(of: name).isEmpty, "\(name)") }
      #expect(entry.values(of: "x-four") == ["4"])
    }
  }

  @Test func `what is the application's passes in its order and spelling`() async throws {
    let fields = [
      "X-B: 1", "x-a: 2", "Accept: */*", "Cookie: a=b; c=d", "User-Agent: test/1", "X-B: 3", "Accept-Encoding: gzip",
      "X-Empty: ", "X-Wide: \u{e9}\t\"x\"", "If-None-Match: \"e\"", "Range: bytes=0-1", "Content-Type: text/plain",
    ]
    try await Scene.play(.open()) { scene async throws in
      try await scene.call("GET", "/api/echo", fields)
      let entry = try scene.last()
      #expect(
        entry.fields.map { "\($0.name): \($0.value)" } == ["Host: 127.0.0.1:\(scene.simulation.api.port)"] + fields)
    }
  }

  @Test func `the caller's Authorization passes where the route says so, and remove_headers goes`() async throws {
    let routes = """
      api: {path: /api, upstream: "$API", pass_authorization: true, remove_headers: [Cookie, x-api-key]}
      other: {path: /other, upstream: "$API"}
      """
    try await Scene.play(.open(routes: routes)) { scene async throws in
      let fields = ["Authorization: Bearer mine", "Cookie: a=b", "X-API-Key: k"]
      try await scene.call("GET", "/api/echo", fields)
      #expect(try scene.last().values(of: "authorization") == ["Bearer mine"])
      #expect(try scene.last().values(of: "cookie").isEmpty)
      #expect(try scene.last().values(of: "x-api-key").isEmpty)
      try await scene.call("GET", "/other/echo", fields)
      #expect(try scene.last().values(of: "authorization").isEmpty)
      #expect(try scene.last().values(of: "cookie") == ["a=b"])
    }
  }

  @Test func `of a response, hop-by-hop fields, nonces and what only we may say stay here`() async throws {
    let gone = [
      "Connection": "x-listed, keep-alive", "X-Listed": "1", "Keep-Alive": "timeout=5", "Proxy-Authenticate": "Basic",
      "Trailer": "Age", "Upgrade": "h2c", "DPoP-Nonce": "n", "Proofd-Error": "no_route", "Proxy-Connection": "close",
    ]
    let kept = [
      "WWW-Authenticate": "DPoP algs=\"ES256\"", "Set-Cookie": "a=b", "X-Kept": "yes", "Server": "sim", "ETag": "\"e\"",
    ]
    try await Scene.play(.open()) { scene async throws in
      let fields = (gone.map { $0 } + kept.map { $0 }).map { HTTPField(name: $0.key, value: $0.value) }
      scene.simulation.faults.add(.addFields(fields))
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 200)
      for (name, value) in gone { #expect(!answer.values(of: name).contains(value), "\(name)") }
      for (name, value) in kept { #expect(answer.values(of: name) == [value], "\(name)") }
      #expect(answer.code == nil)
    }
  }

  @Test func `C73 a redirect to any place is handed on and not followed`() async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let other = try Simulation.start()
      defer { other.stop() }
      for status in [301, 302, 303, 307, 308] {
        let place = "\(other.api.url)/echo"
        let answer = try await scene.call("GET", "/api/status/\(status)?location=\(place)")
        #expect(answer.status == status)
        #expect(answer.values(of: "location") == [place])
      }
      #expect(other.journal.count() == 0)
      #expect(scene.arrived.count == 5)
    }
  }
}
