import HTTPWire
import Testing

@testable import Simulators

@Suite struct RefusalTests {
  @Test func `a good token can be refused, a number of times or always, in three ways`() throws {
    let simulation = try Simulation.start(.init(nonces: .rotate))
    defer { simulation.stop() }
    let client = TestClient(simulation)
    let token = try client.token()
    simulation.withSettings { $0.api.invalidToken = InvalidToken(remaining: 1, challenge: .dpop) }
    let nonce = try client.call(token: token).nonce  // a challenge does not use it up
    let refused = try client.call(token: token, nonce: nonce)
    #expect(refused.status == 401)
    #expect(refused.challenges.first?["error"] == "invalid_token")
    #expect(refused.nonce != nil)
    #expect(simulation.journal.entries().last?.verdict == .refusedBySetting)
    let accepted = try client.call(token: token, nonce: refused.nonce)
    #expect(accepted.status == 200)

    simulation.withSettings { $0.api.invalidToken = InvalidToken(challenge: .bearer) }
    let bearer = try client.call(token: token, nonce: accepted.nonce)
    #expect(bearer.challenges.map(\.scheme) == ["Bearer"])
    #expect(bearer.challenges.first?["error"] == "invalid_token")
    simulation.withSettings { $0.api.invalidToken?.challenge = .bare }
    let bare = try client.call(token: token, nonce: bearer.nonce)
    #expect(bare.status == 401)
    #expect(bare.challenges == [])
  }

  @Test func `an early refusal comes before the body and then closes`() throws {
    let simulation = try Simulation.start(.init(nonces: .once))
    defer { simulation.stop() }
    simulation.withSettings { $0.api.rejection = .earlyThenClose }
    let client = TestClient(simulation)
    let token = try client.token()
    let proof = try client.proof("POST", simulation.api.url + "/upload", token: token)
    let connection = try TestConnection(port: simulation.api.port)
    let fields = ["Authorization: DPoP \(token)", "DPoP: \(proof)"]
    try connection.write(TestClient.head(simulation.api, "POST", "/upload", fields, bodyBytes: 1_000_000))
    let refused = try connection.read()
    #expect(refused.status == 401)
    #expect(refused.values("connection") == ["close"])
    #expect(simulation.journal.entries().last?.body == nil)
    let body = [UInt8](repeating: 1, count: 1_000_000)
    let accepted = try client.call("POST", "/upload", token: token, nonce: refused.nonce, body: body)
    #expect(accepted.json["body_length"]?.int64Value == 1_000_000)
  }

  @Test func `an early refusal may read the body all the same and keep the connection`() throws {
    let simulation = try Simulation.start(.init(nonces: .once))
    defer { simulation.stop() }
    simulation.withSettings { $0.api.rejection = .earlyThenRead }
    let client = TestClient(simulation)
    let token = try client.token()
    let proof = try client.proof("POST", simulation.api.url + "/upload", token: token)
    let connection = try TestConnection(port: simulation.api.port)
    let fields = ["Authorization: DPoP \(token)", "DPoP: \(proof)"]
    try connection.write(TestClient.head(simulation.api, "POST", "/upload", fields, bodyBytes: 1000))
    let refused = try connection.read()
    #expect(refused.status == 401)
    try connection.write([UInt8](repeating: 1, count: 1000))
    let accepted = try client.call("GET", "/echo", token: token, nonce: refused.nonce, on: connection)
    #expect(accepted.status == 200)
    #expect(simulation.journal.entries(role: .api).map(\.body?.byteCount) == [1000, 0])
  }

  @Test func `a client that expects 100 is refused without one`() throws {
    let simulation = try Simulation.start(.init(nonces: .once))
    defer { simulation.stop() }
    simulation.withSettings { $0.api.rejection = .earlyThenClose }
    let client = TestClient(simulation)
    let token = try client.token()
    let proof = try client.proof("POST", simulation.api.url + "/upload", token: token)
    let connection = try TestConnection(port: simulation.api.port)
    let fields = ["Authorization: DPoP \(token)", "DPoP: \(proof)", "Expect: 100-continue"]
    try connection.write(TestClient.head(simulation.api, "POST", "/upload", fields, bodyBytes: 5))
    let refused = try connection.read()
    #expect(refused.interim == [])
    #expect(refused.status == 401)
  }
}
