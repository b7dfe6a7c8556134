import Foundation
import HTTPWire
import Testing

@testable import Simulators

/// Secrets that are sent as they are. RFC 6750 §2.1, RFC 7617
@Suite(.timeLimit(.minutes(5))) struct StaticCredentialTests {
  private static func setup(_ credential: String, _ access: APIAccess) -> Setup {
    var setup = Setup.open(routes: "api: {path: /api, upstream: \"$API\", credential: fixed}") {
      $0.api.access = access
    }
    setup.credentials = "fixed: {provider: static, \(credential)}"
    return setup
  }

  @Test(arguments: [
    ("token: static-token-1234", APIAccess.bearer(tokens: ["static-token-1234"])),
    ("token: {command: [printf, static-token-1234]}", .bearer(tokens: ["static-token-1234"])),
    ("scheme: Basic, username: me, password: \"pass:word-1234\"", .basic(username: "me", password: "pass:word-1234")),
    ("header: X-Api-Key, token: static-key-1234", .field(name: "X-Api-Key", value: "static-key-1234")),
    ("query: api_key, token: \"static/key+12&34\"", .query(name: "api_key", value: "static/key+12&34")),
  ])
  func `a static credential is put where it belongs`(credential: String, access: APIAccess) async throws {
    try await Scene.play(Self.setup(credential, access)) { scene async throws in
      let client = try scene.connect()
      for target in ["/api/echo", "/api/echo?a=1&b=%20", "/api/echo?"] {
        #expect(try await client.call("GET", target).status == 200)
        #expect(try scene.last().values(of: "dpop").isEmpty)
      }
      let log = try await scene.logText()
      for secret in ["static-token-1234", "pass:word-1234", "static-key-1234", "static/key", "static%2Fkey"] {
        #expect(!log.contains(secret))
      }
    }
  }

  @Test func `the query stays as it was in front of a key`() async throws {
    let setup = Self.setup("query: \"api key\", token: key-1234", .query(name: "api key", value: "key-1234"))
    try await Scene.play(setup) { scene async throws in
      for (local, upstream) in [
        ("/api/echo", "/echo?"), ("/api/echo?a=%2f&b", "/echo?a=%2f&b&"), ("/api/echo?", "/echo?&"),
      ] {
        #expect(try await scene.call("GET", local).status == 200)
        let target = try scene.last().target
        #expect(target.hasPrefix(upstream))
        #expect(target.dropFirst(upstream.count).hasSuffix("=key-1234"))
      }
    }
  }

  @Test func `a caller can't bring a second key of the same name`() async throws {
    let setup = Self.setup("header: X-Api-Key, token: key-1234", .field(name: "X-Api-Key", value: "key-1234"))
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call(
        "GET", "/api/echo", ["x-api-key: mine", "X-API-KEY: mine too", "Authorization: x"])
      #expect(answer.status == 200)
      #expect(try scene.last().values(of: "x-api-key") == ["key-1234"])
      #expect(try scene.last().values(of: "authorization").isEmpty)
    }
  }

  @Test func `a refused literal is handed on: there is no other`() async throws {
    let setup = Self.setup("token: static-token-1234", .bearer(tokens: ["another"]))
    try await Scene.play(setup) { scene async throws in
      for _ in 0..<3 {
        let answer = try await scene.call("GET", "/api/echo")
        #expect(answer.status == 401)
        #expect(answer.values(of: "www-authenticate").first?.contains("invalid_token") == true)
      }
      #expect(scene.arrived.count == 3)
    }
  }

  @Test func `a refused token from a file is read again, and the request sent again if it changed`() async throws {
    var setup = Self.setup("token: {file: $DIR/token}, reread: 1h", .bearer(tokens: ["second-token-1234"]))
    setup.prepare = { try Data("first-token-1234\n".utf8).write(to: URL(filePath: "\($1)/token")) }
    try await Scene.play(setup) { scene async throws in
      let file = "\(scene.directory)/token"
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 401)
      try Data("second-token-1234\n".utf8).write(to: URL(filePath: file))
      var answer = try await client.call("GET", "/api/echo")
      // The file is looked at once a second.
      while answer.status == 401 {
        try await Task.sleep(for: .milliseconds(50))
        answer = try await client.call("GET", "/api/echo")
      }
      #expect(answer.status == 200)
      #expect(Set(scene.arrived.map(\.token)) == ["first-token-1234", "second-token-1234"])
    }
  }

  @Test(arguments: ["token: {file: $DIR/nothing}", "token: {command: [false]}", "token: {env: PROOFD_TEST_UNSET}"])
  func `without the secret nothing is sent`(credential: String) async throws {
    try await Scene.play(Self.setup(credential, .bearer())) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(["token_refused", "token_unavailable"].contains(answer.code))
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test(arguments: ["token: {file: $DIR/short}", "token: {command: [printf, sevenby]}"])
  func `a secret too short to be kept out of the log is not sent, and the log says why`(
    credential: String
  ) async throws {
    var setup = Self.setup(credential, .bearer(tokens: ["sevenby"]))
    setup.prepare = { try Data("sevenby\n".utf8).write(to: URL(filePath: "\($1)/short")) }
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.code == "token_refused")
      #expect(String(decoding: answer.body, as: UTF8.self).contains("fewer than 8 bytes"))
      #expect(scene.arrived.isEmpty)
      let notices = try await scene.log().filter { $0.event == "credential" }
      #expect(notices.map(\.credential) == ["fixed"])
      #expect(notices.first?.error == "secret_too_short")
      #expect(notices.first?.json["detail"]?.stringValue?.contains("fewer than 8 bytes") == true)
      #expect(notices.first?.json["next"]?.stringValue?.hasPrefix("Use a secret of at least 8 bytes") == true)
      #expect(try await !scene.logText().contains("sevenby"))
      #expect(!String(decoding: answer.body, as: UTF8.self).contains("sevenby"))
    }
  }

  @Test func `a nonce challenge means nothing to a bearer token`() async throws {
    let setup = Self.setup("token: static-token-1234", .bearer(tokens: ["static-token-1234"]))
    try await Scene.play(setup) { scene async throws in
      let fields = [
        HTTPField(name: "WWW-Authenticate", value: #"DPoP error="use_dpop_nonce""#),
        HTTPField(name: "DPoP-Nonce", value: "n"),
      ]
      scene.simulation.faults.add(.answer(.text(401, "no", fields: fields)), on: .api())
      #expect(try await scene.call("GET", "/api/echo").status == 401)
      #expect(scene.arrived.count == 1)
    }
  }
}
