import Cryptography
import HTTPWire
import Testing

@testable import Simulators

@Suite struct GrantAdminTests {
  private func start() throws -> (Simulation, AdminTests.Admin) {
    var options = SimulationOptions()
    options.adminPort = 0
    let simulation = try Simulation.start(options)
    return (simulation, AdminTests.Admin(port: try #require(simulation.adminPort)))
  }

  @Test func `a grant is begun, watched and revoked over the port`() throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let seed = #"""
      {"client_id": "svc", "subject": "u", "scope": "openid read", "audiences": ["https://a.example"], "name": "N",
       "email": "e@x.example", "picture": "https://x.example/p", "session_expiry": 2000000000, "jkt": "thumb"}
      """#
    let begun = try admin.send("POST", "/grants", seed)
    #expect(begun.status == 201)
    let number = try #require(begun.json["grant"]?.int64Value)
    #expect(begun.json["refresh_token"]?.stringValue?.count == 43)
    #expect(begun.json["id_token"]?.stringValue != nil)
    let shown = try admin.send("GET", "/grants/\(number)").json
    #expect(shown["alive"]?.boolValue == true)
    #expect(shown["subject"]?.stringValue == "u")
    #expect(shown["audiences"]?.stringArrayValue == ["https://a.example"])
    #expect(shown["jkt"]?.stringValue == "thumb")
    #expect(shown["rotation"]?.int64Value == 0)
    #expect(try admin.send("POST", "/grants/\(number)/revoke").status == 204)
    let revoked = try #require(try admin.send("GET", "/grants").json.arrayValue?.first)
    #expect(revoked["alive"]?.boolValue == false)
    #expect(revoked["revoked_by"]?.stringValue == "admin")
    #expect(
      simulation.grant(Int(number))?.profile == .init(name: "N", email: "e@x.example", picture: "https://x.example/p"))
    #expect(try admin.send("GET", "/grants/99").status == 404)
  }

  @Test func `many grants are begun at once, each with a key of its own where one is wanted`() throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let begun = try admin.send("POST", "/grants", #"{"count": 20, "key": true}"#).json.arrayValue ?? []
    #expect(Set(begun.compactMap { $0["refresh_token"]?.stringValue }).count == 20)
    #expect(Set(begun.compactMap { $0["jkt"]?.stringValue }).count == 20)
    let pem = try #require(begun.first?["private_key"]?.stringValue)
    let der = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    let key = try ProofKey(pkcs8: Secret(try #require(Base64.decode(der))))
    #expect(key.thumbprint == begun.first?["jkt"]?.stringValue)
  }

  @Test(arguments: [
    (#"{"client_id": "nobody"}"#, "there is no such client"), (#"{"colour": 1}"#, #"no member "colour""#),
    (#"{"key": true, "jkt": "x"}"#, "exclude each other"), (#"{"count": 10001}"#, "at most 10000"),
    (#"{"session_expiry": "soon"}"#, "seconds since 1970"),
  ])
  func `a mistake in a seed begins nothing and says what it is`(seed: String, problem: String) throws {
    let (simulation, admin) = try start()
    defer { simulation.stop() }
    let response = try admin.send("POST", "/grants", seed)
    #expect(response.status == 400)
    #expect(response.json["error"]?.stringValue?.contains(problem) == true, "\(response.text)")
    #expect(simulation.grants.isEmpty)
  }
}
