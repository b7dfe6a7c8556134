import Glibc
import Testing

@testable import Tracing

@Suite struct LogFileTests {
  let folder = TemporaryFolder()
  var path: String { "\(folder.path)/proofd.log" }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
  }

  @Test func `what loops hand over is in the file when the hub is closed`() throws {
    let hub = try RecordHub(.file(path: path), heldSecrets: HeldSecrets())
    let log = LoopLog(hub: hub)
    for number in 0..<1_000 { RecordDraft(target: "/orders/\(number)").withRecord { log.append($0) } }
    log.flush()
    #expect(log.isEmpty)
    #expect(hub.flushAndClose())
    let lines = folder.contents(of: "proofd.log").lines
    #expect(lines.count == 1_000)
    #expect(lines.last?.contains(#""target":"/orders/999""#) == true)
  }

  @Test func `a record from no loop is in the file too`() throws {
    let hub = try RecordHub(.file(path: path), heldSecrets: HeldSecrets())
    var draft = RecordDraft(target: "/oauth/token")
    draft.event = .oauth
    draft.withRecord { hub.append($0) }
    #expect(hub.flushAndClose())
    #expect(folder.contents(of: "proofd.log").contains(#""event":"oauth","method":"GET","target":"/oauth/token""#))
  }

  @Test func `a new file can be read by its owner alone, and an old one is made so`() throws {
    try RecordHub(.file(path: path)).flushAndClose()
    #expect(mode(path) == 0o600)
    chmod(path, 0o644)
    try RecordHub(.file(path: path)).flushAndClose()
    #expect(mode(path) == 0o600)
  }

  @Test func `lines are appended to what is there`() throws {
    for number in 0..<2 {
      let hub = try RecordHub(.file(path: path), heldSecrets: HeldSecrets())
      RecordDraft(target: "/\(number)").withRecord { hub.append($0) }
      hub.flushAndClose()
    }
    #expect(folder.contents(of: "proofd.log").lines.count == 2)
  }

  @Test func `after a rotation the new file gets the lines`() throws {
    let hub = try RecordHub(.file(path: path), heldSecrets: HeldSecrets())
    RecordDraft(target: "/before").withRecord { hub.append($0) }
    hub.waitUntilWritten()
    rename(path, path + ".1")
    RecordDraft(target: "/between").withRecord { hub.append($0) }
    hub.waitUntilWritten()
    try hub.reopen()
    RecordDraft(target: "/behind").withRecord { hub.append($0) }
    #expect(hub.flushAndClose())
    #expect(folder.contents(of: "proofd.log.1").lines.count == 2)
    #expect(folder.contents(of: "proofd.log").contains("/behind"))
    #expect(mode(path) == 0o600)
  }

  @Test func `a file that cannot be opened again leaves the old one in use`() throws {
    let hub = try RecordHub(.file(path: path), heldSecrets: HeldSecrets())
    rename(path, path + ".1")
    mkdir(path, 0o700)
    #expect(throws: TracingError.self) { try hub.reopen() }
    RecordDraft(target: "/still").withRecord { hub.append($0) }
    #expect(hub.flushAndClose())
    #expect(folder.contents(of: "proofd.log.1").contains("/still"))
    rmdir(path)
  }

  @Test func `a directory, a device, a link and a missing folder are no log files`() {
    symlink("/dev/null", path)
    #expect(throws: TracingError.logNotAFile(path: path)) { try LogOutput(.file(path: path)) }
    #expect(throws: TracingError.logNotAFile(path: "/dev/null")) { try LogOutput(.file(path: "/dev/null")) }
    #expect(throws: TracingError.logNotOpened(path: "/tmp", code: EISDIR)) { try LogOutput(.file(path: "/tmp")) }
    let missing = "\(folder.path)/missing/x.log"
    #expect(throws: TracingError.logNotOpened(path: missing, code: ENOENT)) { try LogOutput(.file(path: missing)) }
    #expect("\(TracingError.logNotOpened(path: "/x", code: ENOENT))".contains("No such file"))
  }

  @Test func `a held value that a loop wrote is not in the file`() throws {
    let held = HeldSecrets()
    try held.hold(.init(utf8: "plainsecret"), label: "x")
    let hub = try RecordHub(.file(path: path), heldSecrets: held)
    RecordDraft(target: "/plainsecret").withRecord { hub.append($0) }
    hub.flushAndClose()
    #expect(folder.contents(of: "proofd.log").withoutHashes.contains("\"target\":\"/[…]\""))
  }
}
