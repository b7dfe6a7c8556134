import Foundation

/// A folder that goes with the test.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "proofd-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }  // nobody is left to tell

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes as careful programs do: another file takes the place of the old one.
  func write(_ text: String, to name: String, mode: Int = 0o600) throws {
    try Data(text.utf8).write(to: URL(filePath: file("new-\(name)")))
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file("new-\(name)"))
    guard rename(file("new-\(name)"), file(name)) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }
  func text(of name: String) throws -> String { try String(contentsOfFile: file(name), encoding: .utf8) }
  func entries(of name: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: file(name)).sorted()
  }
}
