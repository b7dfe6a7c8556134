import Foundation
import Glibc
import HTTPWire
import Testing

@testable import Simulators

@Suite struct CommandTests {
  private func options(_ line: String) throws -> SimulationOptions {
    let arguments = line.split(separator: " ").map(String.init)
    guard case .run(let options) = try SimulatorArguments.parse(arguments) else {
      throw SimulatorArguments.UsageError(detail: "help")
    }
    return options
  }

  @Test func `without options there is a client and an admin port`() throws {
    let options = try options("")
    #expect(options.settings.authorizationServer.clients == [SimulatedClient(id: "svc", secret: "service-secret")])
    #expect(options.adminPort == 0)
    #expect(options.settings.api.access == .dpop)
  }

  @Test func `every option reaches its place`() throws {
    let options = try options(
      """
      --as-port 1 --api-port=2 --admin-port 3 --redact-journal --client a:b:c --client d --audience x --audience y \
      --scope r --expires-in 60:string --token-format opaque --token-type dpop --binding optional --nonce rotate \
      --as-nonce once --previous-nonces 4 --nonce-lifetime 5 --access basic:u:p:w --external-url https://e.example/b \
      --clock-offset -7 --seed s
      """)
    #expect(options.authorizationServerPort == 1)
    #expect(options.apiPort == 2)
    #expect(options.adminPort == 3)
    #expect(options.redactsJournal)
    #expect(options.seed == "s")
    let server = options.settings.authorizationServer
    #expect(server.clients == [SimulatedClient(id: "a", secret: "b:c"), SimulatedClient(id: "d")])
    #expect(server.audiences == ["x", "y"])
    #expect(server.scopes == ["r"])
    #expect(server.tokenLifetimeSeconds == 60)
    #expect(server.expiresIn == .string)
    #expect(server.tokenFormat == .opaque)
    #expect(server.tokenTypeSpelling == "dpop")
    #expect(server.binding == .optional)
    #expect(server.server.nonce.mode == .once)
    #expect(server.server.nonce.previousAccepted == 4)
    #expect(server.server.clockOffsetSeconds == -7)
    let api = options.settings.api
    #expect(api.server.nonce.mode == .rotate)
    #expect(api.server.nonce.lifetimeSeconds == 5)
    #expect(api.access == .basic(username: "u", password: "p:w"))
    #expect(api.server.externalURL == "https://e.example/b")
    #expect(try self.options("--no-admin").adminPort == nil)
  }

  @Test(arguments: [
    ("--nonsense", "there is no option --nonsense"), ("--as-port", "--as-port needs a value"),
    ("--as-port 65536", "--as-port must be a number from 0 to 65535"), ("--nonce x", "--nonce must be one of: off"),
    ("--no-admin=1", "--no-admin takes no value"), ("--access magic", "--access must be none, dpop"),
    ("--client :x", "--client must be ID"), ("--external-url e.example", "--external-url must be"),
    ("--settings /nonexistent", "can't read /nonexistent"), ("--expires-in 5:float", "number, string, omitted"),
    ("stray", "there is no option stray"),
  ])
  func `a mistake on the command line is named`(line: String, problem: String) throws {
    let error = try #require(throws: SimulatorArguments.UsageError.self) { try options(line) }
    #expect(error.detail.contains(problem), "\(error.detail)")
  }

  @Test func `the help names every option and fits a terminal`() throws {
    for line in SimulatorArguments.help.split(separator: "\n") { #expect(line.count <= 120) }
    for name in SimulatorArguments.known.union(["--no-admin", "--redact-journal", "--help"]) {
      #expect(SimulatorArguments.help.contains(name), "\(name)")
    }
  }

  @Test func `the program tells its URLs in one line, serves, and ends with 0 on SIGTERM`() throws {
    let settings = FileManager.default.temporaryDirectory.appendingPathComponent("settings-\(getpid()).json")
    try Data(#"{"api": {"access": {"kind": "none"}}}"#.utf8).write(to: settings)
    defer { try? FileManager.default.removeItem(at: settings) }  // a leftover in the temporary folder harms nobody
    let process = Process()
    process.executableURL = try Self.program()
    process.arguments = ["--settings", settings.path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let words = line.split(whereSeparator: \.isWhitespace)
    #expect(words.prefix(2) == ["proofd-sim", "ready"])
    let urls = try words.dropFirst(2).map { try HTTPURL(parsing: String($0.split(separator: "=")[1])) }
    #expect(urls.count == 3)
    let connection = try TestConnection(port: urls[1].port)
    try connection.write("GET /echo HTTP/1.1\r\nHost: 127.0.0.1:\(urls[1].port)\r\n\r\n")
    #expect(try connection.read().status == 200)
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit)
    #expect(process.terminationStatus == 0)
  }

  @Test func `a wrong command line and a taken port have exit codes of their own`() throws {
    let simulation = try Simulation.start()
    defer { simulation.stop() }
    for (arguments, code) in [(["--nonsense"], 2), (["--api-port", "\(simulation.api.port)"], 1), (["--help"], 0)] {
      let process = Process()
      process.executableURL = try Self.program()
      process.arguments = arguments
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationStatus == Int32(code), "\(arguments)")
    }
  }

  /// The program is built beside the tests.
  private static func program() throws -> URL {
    URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
      .deletingLastPathComponent().appendingPathComponent("proofd-sim")
  }
}
