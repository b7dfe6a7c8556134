import Foundation
import Glibc
import Testing

@testable import Console

/// The kernel's word on who connects, with a process of another user. Needs root, to become one.
@Suite(
  .enabled(
    if: geteuid() == 0
      && ["/usr/bin/setpriv", "/usr/bin/curl"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: $0)
      },
    "runs as root, with setpriv and curl"))
struct OtherUserTests {
  /// The status curl saw as another user; `000` if it could not connect.
  private static func status(of path: String) throws -> String {
    let curl = Process()
    curl.executableURL = URL(filePath: "/usr/bin/setpriv")
    curl.arguments = [
      "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/curl", "-s", "-o", "/dev/null", "-w",
      "%{http_code}",
      "--unix-socket", path, "http://localhost/v1/status",
    ]
    let output = Pipe()
    curl.standardOutput = output
    try curl.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    curl.waitUntilExit()
    return text
  }

  @Test func `the file modes keep another user out`() throws {
    let server = try RunningServer()
    #expect(try Self.status(of: server.path) == "000")
  }

  @Test func `where file modes fail, the peer's uid still decides`() throws {
    let server = try RunningServer()
    chmod(server.folder.path, 0o755)
    chmod("\(server.folder.path)/run", 0o755)
    chmod(server.path, 0o666)
    #expect(try Self.status(of: server.path) == "403")
    #expect(try server.client().request("GET", "/v1/status").status == 200)
  }
}
