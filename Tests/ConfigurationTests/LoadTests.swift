import Configuration
import Foundation
import Testing

@Suite final class `A configuration file` {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "proofd-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: directory) }  // nothing else to do about it

  private func write(_ text: String, _ name: String = "proofd.yaml") throws -> String {
    let file = directory.appending(path: name)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  @Test func `is loaded with what the environment says`() throws {
    let path = try write("log: {file: requests.log}\nroutes: {}")
    let found = Configuration.load(path: path, environment: ["HOME": "/home/me", "XDG_STATE_HOME": "/state"])
    #expect(found.problems == [])
    let value = try #require(found.configuration)
    #expect(value.file == path)
    #expect(value.stateDirectory == "/state/proofd")
    #expect(value.log.file == directory.appending(path: "requests.log").path)
    #expect((1...4).contains(value.threads))
    let bare = Configuration.load(path: path, environment: ["HOME": "/home/me", "XDG_STATE_HOME": "relative"])
    #expect(bare.configuration?.stateDirectory == "/home/me/.local/state/proofd")
  }

  @Test func `may be a symbolic link, and relative paths then start where the link is`() throws {
    let target = try write("state: kept\nroutes: {}", "target.yaml")
    let folder = directory.appending(path: "folder")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let link = folder.appending(path: "link.yaml").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
    let found = Configuration.load(path: link, environment: [:])
    #expect(found.configuration?.stateDirectory == folder.appending(path: "kept").path)
  }

  @Test func `is looked for where XDG says`() {
    #expect(Configuration.defaultPath(environment: ["XDG_CONFIG_HOME": "/c"]) == "/c/proofd/proofd.yaml")
    #expect(Configuration.defaultPath(environment: ["HOME": "/h"]) == "/h/.config/proofd/proofd.yaml")
    #expect(
      Configuration.defaultPath(environment: ["HOME": "/h", "XDG_CONFIG_HOME": "c"]) == "/h/.config/proofd/proofd.yaml")
    #expect(Configuration.defaultPath(environment: [:]) == nil)
  }

  @Test func `that can't be read says why`() throws {
    func problem(_ path: String) -> String? {
      let found = Configuration.load(path: path, environment: ["HOME": "/h"])
      #expect(found.configuration == nil)
      return found.problems.first?.description
    }
    let missing = directory.appending(path: "missing.yaml").path
    #expect(problem(missing) == "\(missing): error: there is no such file")
    #expect(problem(directory.path) == "\(directory.path): error: is a directory; a file is needed")
    let large = try write(String(repeating: "#", count: (1 << 20) + 1))
    #expect(problem(large) == "\(large): error: the file is larger than 1 MiB")
  }

  @Test func `misses the secrets and certificates that are not there`() throws {
    let there = try write("certificate", "there.pem")
    let text = """
      credentials:
        a: {provider: static, token: {env: SET}}
        b: {provider: static, token: {env: UNSET}}
        c: {provider: static, token: {file: missing}}
        d: {provider: static, token: {file: "\(there)"}}
        e: {provider: static, token: {env: SHORT}}
      routes:
        a: {path: /a, upstream: "https://a.example", credential: a, tls: {ca: there.pem}}
        b: {path: /b, upstream: "https://b.example", credential: b}
        c: {path: /c, upstream: "https://c.example", credential: c}
        d: {path: /d, upstream: "https://d.example", credential: d}
        e: {path: /e, upstream: "https://e.example", credential: e}
      """
    let environment = ["HOME": "/h", "SET": "long-enough", "SHORT": "sevenby", "UNSET": ""]
    let path = try write(text)
    let found = Configuration.load(path: path, environment: environment)
    #expect(found.configuration != nil)
    #expect(
      found.problems.map(\.description) == [
        "\(path):3:38: warning: credentials.b.token.env: the environment variable is not set",
        "\(path):4:39: warning: credentials.c.token.file: the file is not there or can't be read",
        "\(path):6:38: warning: credentials.e.token.env: the environment variable holds fewer than 8 bytes, too few for a secret: it will not be used",
      ])
    let broken = try write(text.replacing("there.pem}", with: "gone.pem}"))
    let refused = Configuration.load(path: broken, environment: environment)
    #expect(refused.configuration == nil)
    #expect(refused.problems.filter { $0.severity == .error }.map(\.keyPath) == ["routes.a.tls.ca"])
  }
}
