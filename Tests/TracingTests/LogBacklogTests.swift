import EventLoop
import Glibc
import HTTPWire
import Locking
import Testing

@testable import Tracing

/// How many records a log speaks for: its lines, and those its notices say were dropped.
private struct Tally {
  var lines = 0
  var dropped = 0
  var notices = 0

  init(_ log: String) throws {
    for line in log.lines {
      let value = try JSONValue(parsing: line)
      if value["event"] == .string("log"), case .number(let count) = value["dropped"] {
        dropped += Int(count) ?? 0
        notices += 1
      } else {
        lines += 1
      }
    }
  }
}

@Suite struct LogBacklogTests {
  private func limits(_ bytes: Int) -> LogLimits {
    var limits = LogLimits()
    limits.backlogBytesMax = bytes
    return limits
  }

  private func batch(_ number: Int, lines: Int = 10) -> LineBatch {
    let line = "{\"event\":\"request\",\"number\":\(number)}\n"
    return LineBatch(bytes: Array(String(repeating: line, count: lines).utf8), lineCount: lines)
  }

  @Test func `a blocked output holds up nobody, and the lines it missed are counted`() throws {
    let pipe = TestPipe()
    let filled = pipe.fill()
    let hub = try RecordHub(.descriptor(pipe.writer), heldSecrets: HeldSecrets(), limits: limits(64_000))
    for number in 0..<2_000 { hub.submit(batch(number)) }
    _ = pipe.read(filled)
    let closing = NamedThread(name: "closing") {
      hub.flushAndClose(timeout: .seconds(60))
      pipe.closeWriter()
    }
    let tally = try Tally(pipe.readToEnd())
    closing.join()
    #expect(tally.lines + tally.dropped == 20_000)
    #expect(tally.dropped > 0)
    #expect(hub.droppedCount == tally.dropped)
    #expect(tally.lines * 20 < 120_000)
  }

  @Test func `what one batch is dropped for another notices`() throws {
    let pipe = TestPipe()
    let filled = pipe.fill()
    let hub = try RecordHub(.descriptor(pipe.writer), heldSecrets: HeldSecrets(), limits: limits(16_000))
    for number in 0..<1_000 { hub.submit(batch(number)) }
    _ = pipe.read(filled)
    // As soon as everything is written, there is room again.
    let waiting = NamedThread(name: "waiting") {
      hub.waitUntilWritten()
      hub.submit(LineBatch(bytes: Array("{\"event\":\"last\"}\n".utf8), lineCount: 1))
      hub.flushAndClose(timeout: .seconds(60))
      pipe.closeWriter()
    }
    let log = pipe.readToEnd()
    waiting.join()
    let tally = try Tally(log)
    #expect(tally.lines + tally.dropped == 10_001)
    #expect(log.lines.last == "{\"event\":\"last\"}")
  }

  @Test func `closing gives up on an output that stays blocked, and says so`() throws {
    let pipe = TestPipe()
    _ = pipe.fill()
    let hub = try RecordHub(.descriptor(pipe.writer), heldSecrets: HeldSecrets())
    hub.submit(batch(1))
    #expect(!hub.flushAndClose(timeout: .milliseconds(1)))
    pipe.closeWriter()
  }

  @Test func `lines after the end are dropped quietly`() throws {
    let hub = try RecordHub(.nowhere, heldSecrets: HeldSecrets())
    #expect(hub.flushAndClose())
    hub.submit(batch(1))
    #expect(hub.lastLines(10).isEmpty)
    #expect(hub.flushAndClose())
  }

  @Test func `a reader that goes away ends nothing but the output`() throws {
    let pipe = TestPipe()
    pipe.closeReader()
    let hub = try RecordHub(.descriptor(pipe.writer), heldSecrets: HeldSecrets())
    for number in 0..<100 { hub.submit(batch(number)) }
    hub.waitUntilWritten()
    #expect(String(decoding: hub.lastLines(5), as: UTF8.self).lines.count == 5)
    #expect(!hub.flushAndClose())
    pipe.closeWriter()
  }

  @Test func `what a full disk refused is counted when there is room`() throws {
    let folder = TemporaryFolder()
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    let hub = try RecordHub(.descriptor(full), heldSecrets: HeldSecrets())
    for number in 0..<100 { hub.submit(batch(number)) }
    hub.waitUntilWritten()
    try hub.redirect(to: .file(path: "\(folder.path)/x.log"))
    hub.submit(batch(100))
    #expect(hub.flushAndClose())
    let tally = try Tally(folder.contents(of: "x.log"))
    #expect(tally.lines == 10)
    #expect(tally.dropped == 1_000)
  }

  @Test func `an output that can't be written to is complained of once, until it has worked again`() throws {
    let folder = TemporaryFolder()
    let full = open("/dev/full", O_WRONLY)
    defer { close(full) }
    let complaints = Complaints()
    let hub = try RecordHub(.descriptor(full), heldSecrets: HeldSecrets(), complain: { complaints.add($0, $1) })
    for number in 0..<10 {
      hub.submit(batch(number))
      hub.waitUntilWritten()
    }
    #expect(complaints.all == ["\(LogDestination.descriptor(full)) \(ENOSPC)"])
    // The count is there at once, not with the next record.
    #expect(hub.droppedCount == 100)
    #expect(hub.failure == "No space left on device")

    let file = LogDestination.file(path: "\(folder.path)/x.log")
    try hub.redirect(to: file)
    for number in 0..<3 { hub.submit(batch(number)) }
    hub.waitUntilWritten()
    #expect(hub.failure == nil)
    #expect(hub.droppedCount == 100)
    let tally = try Tally(folder.contents(of: "x.log"))
    #expect((tally.lines, tally.dropped, tally.notices) == (30, 100, 1))

    try hub.redirect(to: .descriptor(full))
    hub.submit(batch(11))
    hub.waitUntilWritten()
    #expect(complaints.all.count == 2)
    #expect(hub.droppedCount == 110)
    #expect(!hub.flushAndClose())
  }

  @Test func `a line broken off by an error is ended before the next`() throws {
    let pipe = TestPipe()
    var backlog = OutputBacklog(bytesMax: 1_000_000)
    let output = try LogOutput(.descriptor(pipe.writer))
    let line = "{\"x\":\"" + String(repeating: "y", count: 5_000) + "\"}\n"
    backlog.append(LineBatch(bytes: Array(line.utf8), lineCount: 1), wallNanoseconds: 0)
    // A pipe takes 4 KiB at once; then the descriptor is made useless for one write.
    backlog.write(to: output, writesMax: 1, wallNanoseconds: 0)
    let saved = dup(pipe.writer)
    let broken = open("/dev/full", O_WRONLY)
    dup2(broken, pipe.writer)
    backlog.write(to: output, writesMax: 1, wallNanoseconds: 0)
    dup2(saved, pipe.writer)
    close(saved)
    close(broken)
    backlog.append(LineBatch(bytes: Array("{\"z\":1}\n".utf8), lineCount: 1), wallNanoseconds: 0)
    backlog.write(to: output, writesMax: 10, wallNanoseconds: 0)
    pipe.closeWriter()
    let lines = pipe.readToEnd().lines
    #expect(lines.count == 3)
    #expect(lines[1] == #"{"time":"1970-01-01T00:00:00.000Z","event":"log","dropped":1}"#)
    #expect(lines[2] == #"{"z":1}"#)
  }
}

/// What was complained of, in order.
private final class Complaints: Sendable {
  private let texts = Protected<[String]>([])
  func add(_ destination: LogDestination, _ code: Int32) { texts.withLock { $0.append("\(destination) \(code)") } }
  var all: [String] { texts.withLock { $0 } }
}
