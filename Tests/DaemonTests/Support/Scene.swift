import Configuration
import Daemon
import Foundation
import HTTPWire
import Locking
import Testing

@testable import Simulators

/// A daemon between a test and the simulators.
final class Scene: Sendable {
  /// A daemon that runs, and where it listens.
  private struct Running {
    let daemon: Daemon
    let port: UInt16

    init(_ configuration: Configuration) throws {
      daemon = try Daemon(configuration)
      port = try HTTPURL(parsing: daemon.url).port
    }
  }

  let simulation: Simulation
  let directory: String
  let configuration: Configuration
  private let running: Protected<Running>
  private let isOver = Protected(false)

  /// Starts a scene, lets `body` play in it, and takes everything down again.
  static func play<R: Sendable>(
    _ setup: Setup, _ body: @Sendable (Scene) async throws -> R
  ) async throws -> R {
    await Stage.shared.enter()
    let played = await outcome(setup, body)
    await Stage.shared.leave()
    return try played.get()
  }

  private static func outcome<R: Sendable>(
    _ setup: Setup, _ body: @Sendable (Scene) async throws -> R
  ) async -> Result<R, any Error> {
    let scene: Scene
    do { scene = try Scene(setup) } catch { return .failure(error) }
    let played: Result<R, any Error>
    do { played = .success(try await body(scene)) } catch { played = .failure(error) }
    await scene.takeDown()
    return played
  }

  private init(_ setup: Setup) throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "daemon-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    simulation = try Simulation.start(setup.simulation)
    try Setup.certificate.write(toFile: "\(directory)/ca.pem", atomically: false, encoding: .utf8)
    try setup.prepare(simulation, directory)
    let (configuration, problems) = Configuration.parse(
      bytes: Array(setup.document(simulation, directory: directory).utf8), fileName: "proofd.yaml",
      baseDirectory: directory, home: directory)
    #expect(!problems.contains { $0.severity == .error }, "\(problems)")
    self.configuration = try #require(configuration)
    running = Protected(try Running(self.configuration))
  }

  var port: UInt16 { running.withLock { $0.port } }

  /// Ends the daemon in order and starts another one on what it left.
  func restart(meanwhile: () throws -> Void = {}) async throws {
    await running.withLock { $0.daemon }.stop()
    try meanwhile()
    let next = try Running(configuration)
    running.withLock { $0 = next }
  }

  func connect() throws -> WireClient { try WireClient(port: port) }

  /// One request on a connection of its own.
  @discardableResult
  func call(
    _ method: String = "GET", _ target: String, _ fields: [String] = [], body: [UInt8]? = nil
  ) async throws -> WireResponse { try await connect().call(method, target, fields, body: body) }

  /// One request each on so many connections, all at once.
  func callAll(_ count: Int, _ target: String) async throws -> [WireResponse] {
    try await withThrowingTaskGroup(of: WireResponse.self) { group in
      for _ in 0..<count { group.addTask { try await self.call("GET", target) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  // MARK: What arrived

  /// Everything that reached the API.
  var arrived: [JournalEntry] { simulation.journal.entries(role: .api) }
  /// Everything that reached the token endpoint.
  var tokenRequests: [JournalEntry] { simulation.journal.entries(role: .authorizationServer, path: "/token") }
  /// The last request that reached the API.
  func last() throws -> JournalEntry { try #require(arrived.last) }

  private func takeDown() async {
    simulation.faults.removeAll()
    await end()
    simulation.stop()
    try? FileManager.default.removeItem(atPath: directory)  // it lies in the system's temporary directory
  }

  // MARK: What was logged

  /// Stops the daemon. Further calls do nothing.
  func end() async {
    let first = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    if first { await running.withLock { $0.daemon }.stop() }
  }

  /// Ends the daemon, so that the log is complete, and reads it: the records of requests, in the order of their ends.
  func records() async throws -> [LogRecord] { try await log().filter { $0.event == "request" } }

  /// As `records()`, token requests and all.
  func log() async throws -> [LogRecord] {
    try await logText().split(separator: "\n").map { try LogRecord($0) }
  }

  func logText() async throws -> String {
    await end()
    return try String(contentsOfFile: "\(directory)/log", encoding: .utf8)
  }
}
