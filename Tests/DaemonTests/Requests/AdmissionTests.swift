import Glibc
import Testing

/// Who gets in. Nothing that is refused reaches the upstream or its authorization server.
@Suite(.timeLimit(.minutes(5))) struct AdmissionTests {
  private func answer(
    _ scene: Scene, host: String? = nil, _ fields: [String] = [], method: String = "GET"
  ) async throws -> WireResponse {
    let client = try scene.connect()
    let host = host?.replacing("PORT", with: "\(scene.port)")
    let fields = fields.map { $0.replacing("PORT", with: "\(scene.port)") }
    try await client.send(client.head(method, "/api/echo", fields, host: host))
    return try await client.read(method)
  }

  @Test(arguments: [
    "127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT", "proofd.test", "other.test:8080",
  ])
  func `Host may be this gateway's address, with its port, or an allowed host`(host: String) async throws {
    try await Scene.play(.open(more: "allowed_hosts: [proofd.test, \"other.test:8080\"]")) { scene async throws in
      let answer = try await answer(scene, host: host)
      #expect(answer.status == 200)
    }
  }

  /// DNS rebinding.
  @Test(arguments: [
    "evil.example", "evil.example:PORT", "127.0.0.1", "localhost", "127.0.0.1:1", "0.0.0.0:PORT",
    "127.0.0.2:PORT", "[::]:PORT", "localhost.evil.example:PORT", "127.0.0.1.evil.example:PORT", "x.localhost:PORT",
    "api.localhost", "api.localhost:1", "localhost.:PORT", "proofd.test:PORT", "other.test",
  ])
  func `C78 any other Host is answered 421 before anybody is asked`(host: String) async throws {
    let more = "allowed_hosts: [proofd.test, \"other.test:8080\"]"
    try await Scene.play(.dpop(more: more)) { scene async throws in
      let answer = try await answer(scene, host: host)
      #expect(answer.status == 421)
      #expect(answer.code == "host_not_allowed")
      #expect(scene.arrived.isEmpty)
    }
  }

  /// RFC 9112 §3.2
  @Test(arguments: [
    "GET /api/echo HTTP/1.1\r\n\r\n", "GET /api/echo HTTP/1.1\r\nHost:\r\n\r\n", "GET /api/echo HTTP/1.0\r\n\r\n",
    "GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nHost: 127.0.0.1:PORT\r\n\r\n",
    "GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1:PORT, evil.example\r\n\r\n",
  ])
  func `no Host, an empty one, or two, is a bad request`(text: String) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let client = try scene.connect()
      try await client.send(text.replacing("PORT", with: "\(scene.port)"))
      let answer = try await client.read()
      #expect([400, 421].contains(answer.status))
      #expect(answer.code != nil)
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test(arguments: [
    ([], 200), (["Sec-Fetch-Site: none"], 200), (["Sec-Fetch-Site: same-origin"], 200),
    (["Sec-Fetch-Site: same-site"], 403), (["Sec-Fetch-Site: cross-site"], 403), (["Sec-Fetch-Site:"], 403),
    (["Sec-Fetch-Site: none, cross-site"], 403), (["Sec-Fetch-Site: None"], 403),
    (["Origin: http://127.0.0.1:PORT"], 200), (["Origin: http://localhost:PORT"], 200),
    (["Origin: http://api.localhost:PORT"], 200),
    (["Origin: null"], 403), (["Origin: http://127.0.0.1"], 403), (["Origin: https://127.0.0.1:PORT"], 403),
    (["Origin: http://127.0.0.1:PORT/"], 403), (["Origin: http://localhost:3000"], 403),
    (["Origin: https://evil.example"], 403), (["Origin:"], 403), (["Origin: http://"], 403),
    (["Origin: http://127.0.0.1:PORT http://evil.example"], 403),
    (["Sec-Fetch-Site: same-origin", "Origin: http://127.0.0.1:PORT"], 200),
    (["Sec-Fetch-Site: same-origin", "Origin: https://evil.example"], 403),
    (["Sec-Fetch-Site: cross-site", "Origin: http://127.0.0.1:PORT"], 403),
    // Whichever of two a reader believes.
    (["Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"], 403),
    (["Origin: http://127.0.0.1:PORT", "Origin: https://evil.example"], 403),
    // The same for WebSocket.
    (["Upgrade: websocket", "Connection: Upgrade", "Origin: https://evil.example"], 403),
  ])
  func `pages of other origins are told by Sec-Fetch-Site and Origin`(fields: [String], status: Int) async throws {
    try await Scene.play(.open()) { scene async throws in
      let answer = try await answer(scene, fields)
      #expect(answer.status == status)
      #expect(answer.code == (status == 403 ? "cross_site_refused" : nil))
      #expect(scene.arrived.count == (status == 200 ? 1 : 0))
    }
  }

  @Test(arguments: ["TRACE", "TRACK", "trace", "Track"])
  func `TRACE and TRACK are never forwarded, in whatever case`(method: String) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let answer = try await answer(scene, method: method)
      #expect(answer.status == 405)
      #expect(answer.code == "method_not_proxied")
      #expect(answer.values(of: "allow").first?.contains(method) == false)
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test(arguments: ["example.com:443", "127.0.0.1:PORT", "/api/echo"])
  func `CONNECT is never forwarded`(target: String) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let client = try scene.connect()
      let target = target.replacing("PORT", with: "\(scene.port)")
      try await client.send(client.head("CONNECT", target, host: target.hasPrefix("/") ? nil : target))
      let answer = try await client.read()
      #expect([400, 405, 421].contains(answer.status))
      #expect(answer.code != nil)
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test func `two loops serve the same routes, tokens and nonces`() async throws {
    var setup = Setup.dpop(nonces: .once)
    setup.threads = 2
    try await Scene.play(setup) { scene async throws in
      let answers = try await scene.callAll(40, "/api/echo")
      #expect(answers.allSatisfy { $0.status == 200 })
      #expect(scene.tokenRequests.filter { $0.verdict == .accepted }.count == 1)
      #expect(Set(scene.arrived.map(\.token)).count == 1)
    }
  }

  /// Needs the right to become somebody else for a moment.
  @Test(.enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0))
  func `another user of the machine is turned away`() async throws {
    try await Scene.play(.dpop()) { scene async throws in
      let request = #"GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1:\#(scene.port)\r\n\r\n"#
      let script = "exec 3<>/dev/tcp/127.0.0.1/\(scene.port); printf '\(request)' >&3; cat <&3"
      let output = try await Program.run("/usr/bin/setpriv", ["--reuid=65534", "--clear-groups", "bash", "-c", script])
      #expect(output.contains("HTTP/1.1 403"))
      #expect(output.contains("Proofd-Error: caller_unknown"))
      #expect(scene.arrived.isEmpty)
      let record = try #require(try await scene.records().first)
      #expect(record.caller == "uid:65534")
      #expect(record.error == "caller_unknown")
    }
  }

  @Test(.enabled(if: geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0))
  func `callers any lets another user in`() async throws {
    try await Scene.play(.open(more: "callers: any")) { scene async throws in
      let request = #"GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1:\#(scene.port)\r\nConnection: close\r\n\r\n"#
      let script = "exec 3<>/dev/tcp/127.0.0.1/\(scene.port); printf '\(request)' >&3; cat <&3"
      let output = try await Program.run("/usr/bin/setpriv", ["--reuid=65534", "--clear-groups", "bash", "-c", script])
      #expect(output.contains("HTTP/1.1 200"))
    }
  }
}
