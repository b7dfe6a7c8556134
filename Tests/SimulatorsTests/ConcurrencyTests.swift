import Testing

@testable import Simulators

@Suite struct ConcurrencyTests {
  @Test func `two hundred connections are served at once`() async throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    simulation.withSettings { $0.api.access = .bearer(tokens: ["t"]) }
    simulation.faults.add(.hold(.before, gate: "all"), next: nil, on: .api())
    var connections: [TestConnection] = []
    for _ in 1...200 {
      let connection = try TestConnection(port: simulation.api.port)
      try connection.write(TestClient.head(simulation.api, "GET", "/echo", ["Authorization: Bearer t"]))
      connections.append(connection)
    }
    #expect(await simulation.journal.wait { $0.filter { $0.role == .api }.count == 200 })
    simulation.faults.gates.open("all")
    for connection in connections { #expect(try connection.read().status == 200) }
    #expect(Set(simulation.journal.entries(role: .api).map(\.connection)).count == 200)
  }

  @Test func `stopping ends waiting requests and idle connections, and frees the port`() async throws {
    let simulation = try Simulation.start()
    simulation.withSettings { $0.api.access = .none }
    simulation.faults.add(.hold(.before, gate: "never"), next: 1)
    let held = try TestConnection(port: simulation.api.port)
    try held.write(TestClient.head(simulation.api, "GET", "/echo", []))
    let slow = try TestConnection(port: simulation.api.port)
    try slow.write(TestClient.head(simulation.api, "GET", "/slow?ms=600000", []))
    let idle = try TestConnection(port: simulation.api.port)
    #expect(await simulation.journal.wait { $0.count == 2 })
    simulation.stop()
    #expect(throws: (any Error).self) { try slow.read() }
    #expect(throws: (any Error).self) { try idle.read() }
    simulation.stop()
    var options = SimulationOptions()
    options.apiPort = simulation.api.port
    try Simulation.start(options).stop()
  }

  @Test func `a port that is taken is an error, not a crash`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    var options = SimulationOptions()
    options.apiPort = simulation.api.port
    #expect(throws: SimulatorError.self) { try Simulation.start(options) }
  }
}
