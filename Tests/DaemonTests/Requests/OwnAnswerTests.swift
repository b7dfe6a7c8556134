import HTTPWire
import Testing

@testable import Simulators

/// What the gateway says in the upstream's place: status, code and shape of every code that can be had.
@Suite(.timeLimit(.minutes(5))) struct OwnAnswerTests {
  /// How one code comes about.
  struct Cause: Sendable, CustomTestStringConvertible {
    var code: String
    var status: Int
    var setup: Setup
    /// With `PORT` for the gateway's.
    var request = "GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\(secret)\r\n\r\n"
    var testDescription: String { code }

    /// Goes into every request, and never comes back.
    static let secret = "X-Secret: sentinel-4711\r\nAuthorization: Bearer sentinel-4711\r\nCookie: a=sentinel-4711"
  }

  static let causes: [Cause] = [
    Cause(
      code: "bad_request", status: 400, setup: .open(),
      request: "GET /api/echo HTTP/1.1\r\nX-Secret : sentinel-4711\r\n\r\n"),
    Cause(
      code: "head_too_large", status: 431, setup: .open(more: "limits: {head: 1KiB}"),
      request: "GET /api/\(String(repeating: "sentinel-4711", count: 100)) HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"),
    Cause(
      code: "request_timeout", status: 408, setup: .open(more: "timeouts: {head: 100ms}"),
      request: "GET /api/sentinel-4711 HTTP/1.1\r\n"),
    Cause(
      code: "host_not_allowed", status: 421, setup: .open(),
      request: "GET /api/echo HTTP/1.1\r\nHost: sentinel-4711\r\n\r\n"),
    Cause(
      code: "cross_site_refused", status: 403, setup: .open(),
      request: "GET /api/echo HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://sentinel-4711\r\n\r\n"),
    Cause(
      code: "refused_by_policy", status: 403,
      setup: .open(routes: "api: {path: /api, upstream: \"$API\", methods: [POST]}")),
    Cause(
      code: "no_route", status: 404, setup: .open(),
      request: "GET /sentinel-4711 HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"),
    Cause(
      code: "method_not_proxied", status: 405, setup: .open(),
      request: "TRACE /api/sentinel-4711 HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"),
    Cause(
      code: "upstream_unreachable", status: 502,
      setup: .open(routes: "api: {path: /api, upstream: \"http://127.0.0.1:1\"}")),
    Cause(
      code: "upstream_closed", status: 502, setup: .open().after { $0.faults.add(.drop(.before, .close)) }),
    Cause(
      code: "upstream_protocol", status: 502,
      setup: .open().after {
        $0.faults.add(.raw(Array("HTTP/1.1 200 OK\r\nX: a\nsentinel-4711\r\n\r\n".utf8), keepsOpen: false))
      }),
    Cause(
      code: "upstream_timeout", status: 504,
      setup: .open(routes: "api: {path: /api, upstream: \"$API\", timeouts: {response: 100ms}}").after {
        $0.faults.add(.hold(.before, gate: "never"))
      }),
    Cause(
      code: "token_refused", status: 502,
      setup: .dpop { $0.authorizationServer.clients[0].secret = "another-secret" }),
    Cause(
      code: "token_unavailable", status: 503,
      setup: .dpop().after { $0.faults.add(.status(500), next: nil, on: .token) }),
  ]

  @Test(arguments: Self.causes)
  func `each code has its status, its field and a problem that says what to do`(cause: Cause) async throws {
    try await Scene.play(cause.setup) { scene async throws in
      let client = try scene.connect()
      try await client.send(cause.request.replacing("PORT", with: "\(scene.port)"))
      let answer = try await client.read()
      #expect(answer.status == cause.status)
      #expect(answer.values(of: "proofd-error") == [cause.code])
      #expect(answer.values(of: "content-type") == ["application/problem+json"])
      #expect(answer.values(of: "cache-control") == ["no-store"])
      // RFC 9457 §3.1
      let problem = answer.json
      #expect(problem.objectValue?.map(\.0) == ["type", "title", "status", "detail", "code", "next"])
      #expect(problem["type"]?.stringValue?.hasSuffix(cause.code) == true)
      #expect(problem["status"]?.int64Value == Int64(cause.status))
      #expect(problem["code"]?.stringValue == cause.code)
      for member in ["title", "detail", "next"] { #expect(problem[member]?.stringValue?.isEmpty == false, "\(member)") }
      #expect((answer.values(of: "retry-after").isEmpty == false) == (cause.code == "token_unavailable"))
      #expect(!(answer.head + answer.text).contains("4711"), "an answer echoes the request")
      #expect(!(answer.head + answer.text).contains(Setup.clientSecret))

      let record = try #require(try await scene.records().last)
      #expect(record.error == cause.code)
      #expect(record.status == Int64(cause.status))
      #expect(record.source == "gateway")
      #expect(try await scene.records().count == 1)
    }
  }

  @Test(
    arguments: Self.causes.filter {
      $0.request.hasSuffix("\r\n\r\n") && $0.code != "bad_request" && $0.code != "head_too_large"
    })
  func `a browser that navigates gets a page`(cause: Cause) async throws {
    try await Scene.play(cause.setup) { scene async throws in
      let client = try scene.connect()
      let request = cause.request.replacing("PORT", with: "\(scene.port)").dropLast()  // CR LF is one character
      try await client.send(request + "Sec-Fetch-Mode: navigate\r\nSec-Fetch-Site: none\r\n\r\n")
      let answer = try await client.read()
      #expect(answer.status == cause.status)
      #expect(answer.values(of: "content-type") == ["text/html; charset=utf-8"])
      #expect(answer.values(of: "content-security-policy").count == 1)
      #expect(answer.values(of: "proofd-error") == [cause.code])
      #expect(answer.text.hasPrefix("<!doctype html>"))
      #expect(answer.text.contains(cause.code))
      #expect(!answer.text.contains("4711"))
    }
  }

  @Test func `the answer to HEAD has a head only, and the connection goes on`() async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      let refused = try await client.call("HEAD", "/nowhere")
      #expect(refused.status == 404)
      #expect(refused.values(of: "content-length").first.flatMap { Int($0) } ?? 0 > 0)
      #expect(try await client.call("GET", "/api/echo").status == 200)
    }
  }

  @Test func `after a refused request that was whole the connection goes on`() async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      for target in ["/nowhere", "/api/../x", "/api/echo"] { _ = try? await client.call("GET", target) }
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      let other = try scene.connect()
      #expect(try await other.call("GET", "/nowhere").status == 404)
      #expect(try await other.call("GET", "/api/echo").status == 200)
    }
  }

  /// RFC 9112 §9.6
  @Test func `a refused upload gets its answer although nobody reads it to the end`() async throws {
    try await Scene.play(.open()) { scene async throws in
      let client = try scene.connect()
      try await client.send(client.head("POST", "/nowhere", bodyBytes: 200_000))
      try await client.send(bytes: [UInt8](repeating: 7, count: 150_000))
      let answer = try await client.read()
      #expect(answer.status == 404)
      #expect(answer.values(of: "connection") == ["close"])
      try await client.send(bytes: [UInt8](repeating: 7, count: 50_000))
      #expect(try await client.isClosed())
    }
  }

  @Test func `an https upstream that speaks no TLS is answered upstream_tls`() async throws {
    let setup = Setup.open(routes: "api: {path: /api, upstream: \"$API\"}")
    let simulation = try Simulation.start(setup.simulation)
    defer { simulation.stop() }
    let routes = "api: {path: /api, upstream: \"https://127.0.0.1:\(simulation.api.port)\"}"
    try await Scene.play(.open(routes: routes)) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 502)
      #expect(answer.code == "upstream_tls")
    }
  }
}
