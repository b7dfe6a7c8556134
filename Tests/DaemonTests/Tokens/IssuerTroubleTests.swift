import HTTPWire
import Testing

@testable import Simulators

/// Authorization servers that are down, slow, or talk nonsense: nothing goes to the API without a token. RFC 6749 §5
@Suite(.timeLimit(.minutes(5))) struct IssuerTroubleTests {
  /// Twenty milliseconds between requests, so that the journal does not overflow.
  @Test(arguments: [[Fault.drop(.before, .reset)], [.status(503)], [.answer(.text(200, "<html>maintenance</html>"))]])
  func `a valid token serves until it ends, then there is 503 with Retry-After`(down: [Fault]) async throws {
    let setup = Setup.dpop { settings in
      settings.authorizationServer.tokenLifetimeSeconds = 2
      settings.api.server.clockOffsetSeconds = -1
    }
    try await Scene.play(setup) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call("GET", "/api/echo").status == 200)
      let started = ContinuousClock.now
      scene.simulation.faults.add(down, next: nil, on: .token)
      var answer = try await client.call("GET", "/api/echo")
      while answer.status == 200 {
        try await Task.sleep(for: .milliseconds(20))
        answer = try await client.call("GET", "/api/echo")
      }
      #expect(ContinuousClock.now - started > .milliseconds(1_500))
      #expect(answer.status == 503)
      #expect(answer.code == "token_unavailable")
      #expect((1...60).contains(answer.values(of: "retry-after").first.flatMap { Int($0) } ?? 0))
      // The token never went out dead, and nothing went out without one.
      #expect(scene.arrived.allSatisfy { $0.verdict == .accepted })

      // It comes back by itself.
      scene.simulation.faults.removeAll()
      while answer.status != 200 {
        try await Task.sleep(for: .milliseconds(50))
        answer = try await client.call("GET", "/api/echo")
      }
    }
  }

  @Test func `an issuer that never was there is 503 for all who wait, and one attempt`() async throws {
    var setup = Setup.dpop()
    setup.credentials = Setup.machine().replacing("$AS", with: "http://127.0.0.1:1")
    try await Scene.play(setup) { scene async throws in
      let answers = try await scene.callAll(20, "/api/echo")
      #expect(answers.allSatisfy { $0.status == 503 && $0.code == "token_unavailable" })
      #expect(answers.allSatisfy { !$0.values(of: "retry-after").isEmpty })
      #expect(scene.arrived.isEmpty)
      #expect(try await scene.log().filter { $0.event == "oauth" }.count <= 4)
    }
  }

  @Test func `a request waits for its token no longer than token_timeout, and the attempt goes on`() async throws {
    let setup = Setup.dpop(more: "token_timeout: 100ms").after {
      $0.faults.add(.hold(.before, gate: "token"), on: .token)
    }
    try await Scene.play(setup) { scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 503)
      #expect(answer.code == "token_unavailable")
      #expect(answer.values(of: "retry-after") == ["1"])
      async let second = scene.call("GET", "/api/echo")
      scene.simulation.faults.gates.open("token")
      _ = try await second
      let isIssued = await scene.simulation.journal.wait { $0.contains { $0.path == "/token" && $0.status == 200 } }
      #expect(isIssued)
      #expect(scene.tokenRequests.count == 1)
    }
  }

  @Test func `if a refused token can't be replaced in time, the refusal is handed on`() async throws {
    try await Scene.play(.dpop(more: "token_timeout: 100ms") { $0.api.invalidToken = InvalidToken() }) {
      scene async throws in
      let isIssued = await scene.simulation.journal.wait { $0.contains { $0.path == "/token" && $0.status == 200 } }
      #expect(isIssued)
      scene.simulation.faults.add(.hold(.before, gate: "token"), on: .token)
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.status == 401)
      #expect(answer.code == nil)
      #expect(answer.text == "Token refused.\n")
      #expect(scene.arrived.count == 1)
    }
  }

  @Test(arguments: [
    (400, "invalid_client", 502, "token_refused"), (401, "invalid_client", 502, "token_refused"),
    (400, "invalid_scope", 502, "token_refused"), (400, "unauthorized_client", 502, "token_refused"),
    (400, "invalid_target", 502, "token_refused"), (400, "temporarily_unavailable", 503, "token_unavailable"),
    (500, "server_error", 503, "token_unavailable"), (429, "slow_down", 503, "token_unavailable"),
  ])
  func `C71 a refused token request is made once, and the cause told without the server's secrets`(
    status: Int, error: String, answered: Int, code: String
  ) async throws {
    let body = #"{"error":"\#(error)","error_description":"no for \#(Setup.clientSecret)"}"#
    let fields = [
      HTTPField(name: "Content-Type", value: "application/json"), HTTPField(name: "Retry-After", value: "7"),
    ]
    let refusal = Answer(status: status, fields: fields, body: .bytes(Array(body.utf8)))
    try await Scene.play(.dpop().after { $0.faults.add(.answer(refusal), next: nil, on: .token) }) {
      scene async throws in
      let client = try scene.connect()
      for answer in try await client.call(times: 5, "/api/echo") {
        #expect(answer.status == answered)
        #expect(answer.code == code)
        #expect(!answer.text.contains(Setup.clientSecret))
        if answered == 503 { #expect(["6", "7"].contains(answer.values(of: "retry-after").first)) }
      }
      #expect(scene.tokenRequests.count == 1)
      #expect(scene.arrived.isEmpty)
      let log = try await scene.logText()
      #expect(log.contains(error))
      #expect(!log.contains(Setup.clientSecret))
    }
  }

  @Test(arguments: [
    "", "{", "[]", "null", "{}", #"{"access_token":"t"}"#, #"{"token_type":"DPoP"}"#,
    #"{"access_token":"","token_type":"DPoP"}"#,
    #"{"access_token":7,"token_type":"DPoP"}"#, #"{"access_token":"a b","token_type":"DPoP"}"#,
    #"{"access_token":"a,b","token_type":"DPoP"}"#, #"{"access_token":"a\r\nX-Evil: 1","token_type":"DPoP"}"#,
    #"{"access_token":"a","access_token":"b","token_type":"DPoP"}"#,
  ])
  func `a token response that is none, or whose token cannot stand in a field, is not used`(body: String) async throws {
    let fields = [HTTPField(name: "Content-Type", value: "application/json")]
    let response = Answer(status: 200, fields: fields, body: .bytes(Array(body.utf8)))
    try await Scene.play(.dpop().after { $0.faults.add(.answer(response), next: nil, on: .token) }) {
      scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(["token_unavailable", "token_refused"].contains(answer.code))
      #expect(scene.arrived.isEmpty)
    }
  }

  @Test(arguments: AuthorizationServerSettings.ExpiresInForm.allCases, AuthorizationServerSettings.TokenFormat.allCases)
  func `expires_in and the token may have any of their forms`(
    form: AuthorizationServerSettings.ExpiresInForm, format: AuthorizationServerSettings.TokenFormat
  ) async throws {
    let setup = Setup.dpop { settings in
      settings.authorizationServer.expiresIn = form
      settings.authorizationServer.tokenFormat = format
    }
    try await Scene.play(setup) { scene async throws in
      let client = try scene.connect()
      #expect(try await client.call(times: 3, "/api/echo").allSatisfy { $0.status == 200 })
      #expect(scene.tokenRequests.count == 1)
    }
  }

  @Test func `an endpoint given by hand is used without asking for metadata`() async throws {
    var setup = Setup.dpop(nonces: .once)
    setup.credentials = Setup.machine().replacing("issuer: \"$AS\"", with: "endpoints: {token: \"$AS/token\"}")
    try await Scene.play(setup) { scene async throws in
      #expect(try await scene.call("GET", "/api/echo").status == 200)
      #expect(scene.simulation.journal.count(role: .authorizationServer) == 2)
      #expect(scene.tokenRequests.count == 2)
    }
  }

  @Test func `metadata of another issuer is refused`() async throws {
    try await Scene.play(.dpop { $0.authorizationServer.server.externalURL = "https://evil.example" }) {
      scene async throws in
      let answer = try await scene.call("GET", "/api/echo")
      #expect(answer.code == "token_refused")
      #expect(scene.tokenRequests.isEmpty)
      #expect(scene.arrived.isEmpty)
    }
  }
}
