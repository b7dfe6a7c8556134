import Configuration
import EventLoop
import Foundation
import Testing

@testable import Daemon

struct ListenerAssemblyTests {
  /// A place for a socket, which goes with the test.
  private final class Place {
    let directory = FileManager.default.temporaryDirectory.appending(path: "listen-\(UUID().uuidString)").path
    var path: String { "\(directory)/s" }
    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    init() throws { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: directory) }  // it lies in the system's temporary directory

    func bind() throws -> ListenerAssembly {
      var configuration = Configuration(
        file: "f", stateDirectory: "/s", store: StoreConfiguration(key: .passphrase), threads: 2)
      configuration.listen = [.unix(path: path)]
      return try ListenerAssembly(configuration)
    }
  }

  /// As the loops do when draining begins.
  private static func closeDescriptors(of assembly: ListenerAssembly) {
    for listener in assembly.listeners { for descriptor in listener.descriptors { close(descriptor) } }
  }

  @Test func `the socket a successor has bound while a daemon drained is left to it`() throws {
    let place = try Place()
    let first = try place.bind()
    Self.closeDescriptors(of: first)
    let second = try place.bind()
    first.close()
    #expect(SocketAddress(unixPath: place.path)?.isAccepting == true)
    Self.closeDescriptors(of: second)
    second.close()
    #expect(!place.exists)
  }

  @Test func `a socket that somebody listens on is left alone by who wants its place`() throws {
    let place = try Place()
    let first = try place.bind()
    #expect(throws: DaemonError.self) { try place.bind() }
    #expect(SocketAddress(unixPath: place.path)?.isAccepting == true)
    Self.closeDescriptors(of: first)
    first.close()
    #expect(!place.exists)
  }
}
