import Glibc
import Testing

@testable import Tracing

@Suite struct LogFileTests {
  let folder = TemporaryFolder()
  var path: String { "\(folder.path)/proofd.log" }

  @Test func `what loops hand over is in the file when the hub is closed`() throws {
    let hub = try RecordHub(.file(path: path), heldSecrets: HeldSecrets())
    let log = LoopLog(hub: hub)
    for number in 0..<1_000 { RecordDraft(target: "/orders/\(number)").withRecord { log.append($0) } }
    log.flush()
    #expect(hub.flushAndClose())
    let lines = folder.contents(of: "proofd.log").lines
    #expect(lines.count == 1_000)
    #expect(lines.last?.contains(#""target":"/orders/999""#) == true)
  }
}
