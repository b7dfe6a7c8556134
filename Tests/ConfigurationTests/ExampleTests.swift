import Configuration
import Foundation
import Testing

/// The files of `Config/`.
enum ConfigFolder {
  static let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Config").standardized

  static func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: path.appending(path: name))) }
}

@Suite struct `The example configuration` {
  private func parsed() throws -> (configuration: Configuration?, problems: [ConfigurationProblem]) {
    Configuration.parse(
      bytes: try ConfigFolder.bytes("proofd.example.yaml"), fileName: "proofd.example.yaml",
      baseDirectory: "/etc/proofd",
      home: "/home/me")
  }

  @Test func `has no problem, not even a doubtful line`() throws {
    let (configuration, problems) = try parsed()
    #expect(problems == [])
    let value = try #require(configuration)
    #expect(
      value.credentials.map(\.name) == [
        "machine", "workshop", "acme", "archive", "partner", "ledger", "legacy", "warehouse", "weather", "maps",
      ])
    #expect(
      value.routes.map(\.name) == [
        "orders", "stock", "workshop", "mail", "archive", "partner", "ledger", "legacy", "warehouse", "weather", "maps",
      ])
  }

  @Test func `shows the defaults where it says so`() throws {
    let value = try #require(try parsed().configuration)
    #expect(value.limits == Limits())
    #expect(value.timeouts == Timeouts())
    #expect(value.replayLimitBytes == Configuration.replayLimitBytesDefault)
    #expect(value.replayTotalBytes == Configuration.replayTotalBytesDefault)
    #expect(value.listen.first == .tcp(host: "127.0.0.1", port: 9449))
    #expect(value.callers == .sameUser)
    #expect(value.store == StoreConfiguration(key: .file("/home/me/.config/proofd/store.key")))
  }
}
