import EventLoop
import Glibc
import Testing

@testable import Commands

struct ControlClientTests {
  private static func failure(_ body: () throws -> Void) -> CommandFailure? {
    do {
      try body()
      return nil
    } catch {
      return error as? CommandFailure
    }
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;a=b\r\nlo\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
  ])
  func `an answer is read however it is cut`(answer: String) throws {
    let bytes = Array(answer.utf8)
    for cut in 1..<bytes.count {
      let server = try CannedServer([Array(bytes[..<cut]), Array(bytes[cut...])])
      #expect(try ControlClient(path: server.path).get("/") == Array("hello".utf8))
    }
    let server = try CannedServer(bytes.map { [$0] })
    #expect(try ControlClient(path: server.path).get("/") == Array("hello".utf8))
  }

  @Test(arguments: [
    "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\nA: b\n\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
  ])
  func `an answer that breaks off or is none is a failure`(answer: String) throws {
    let server = try CannedServer(answer)
    let failure = Self.failure { _ = try ControlClient(path: server.path).get("/") }
    #expect(failure?.exitCode == .failed)
    #expect(failure?.message.hasPrefix("the daemon's answer cannot be read: ") == true)
  }

  @Test func `a stream says whether it came to its end`() throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
    for (answer, expected) in [(head, ControlClient.Ending.cut), (head + "0\r\n\r\n", .complete)] {
      let server = try CannedServer(answer)
      var received: [UInt8] = []
      let ending = try ControlClient(path: server.path).stream("/") { received += $0 }
      #expect(ending == expected)
      #expect(received == Array("abc".utf8))
    }
  }

  @Test func `a refusal shows what the daemon says`() throws {
    let body = #"{"status":403,"detail":"Not you.","code":"caller_unknown","next":"Be somebody else."}"#
    let server = try CannedServer("HTTP/1.1 403 Forbidden\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    let failure = Self.failure { _ = try ControlClient(path: server.path).get("/") }
    #expect(failure?.message == "the daemon refuses, status 403: Not you.")
    #expect(failure?.hint == "Be somebody else.")
    let silent = try CannedServer("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nOops")
    #expect(
      Self.failure { _ = try ControlClient(path: silent.path).get("/") }?.message
        == "the daemon refuses, status 500: it does not say why")
  }

  @Test(arguments: ["/nonexistent/control.sock", "/tmp", "/\(String(repeating: "a", count: 200))"])
  func `where nobody answers the exit code says so`(path: String) {
    let failure = Self.failure { _ = try ControlClient(path: path).get("/") }
    #expect(failure?.exitCode == .daemonUnreachable)
    #expect(failure?.message.hasPrefix("no daemon answers at \(path): ") == true)
  }

  /// As long as it takes a daemon that is stopped to be noticed in these tests.
  private static let soon = Duration.milliseconds(50)
  private static let silence = "the daemon does not answer within 0 s"

  /// The kernel takes the connection for a process that is stopped.
  @Test func `a daemon that does not answer is unreachable`() throws {
    let listener = try SilentListener()
    let failure = Self.failure { _ = try ControlClient(path: listener.path, limit: Self.soon).get("/") }
    #expect(failure?.exitCode == .daemonUnreachable)
    #expect(failure?.message == Self.silence)
    #expect(failure?.hint != nil)
    let live = Self.failure {
      _ = try ControlClient(path: listener.path, limit: Self.soon).stream("/", isLive: true) { _ in }
    }
    #expect(live?.message == Self.silence)
  }

  @Test func `a daemon whose queue is full is unreachable`() throws {
    let listener = try SilentListener()
    listener.fill()
    let failure = Self.failure { _ = try ControlClient(path: listener.path, limit: Self.soon).get("/") }
    #expect(failure?.exitCode == .daemonUnreachable)
    #expect(failure?.message == Self.silence)
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello",
    "HTTP/1.1 500 Oops\r\nContent-Length: 9\r\n\r\n",
  ])
  func `an answer that stops in the middle is waited for no longer than one that does not begin`(
    answer: String
  ) throws {
    let done = ThreadGate()
    let canned = try CannedServer([Array(answer.utf8)], beforeClosing: done)
    let failure = Self.failure { _ = try ControlClient(path: canned.path, limit: Self.soon).get("/") }
    #expect(failure?.exitCode == .daemonUnreachable)
    #expect(failure?.message == Self.silence)
    done.open()
  }

  @Test func `a live answer has no limit once it has begun`() throws {
    let late = ThreadGate()
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
    let canned = try CannedServer([Array(head.utf8)], beforeClosing: late, last: Array("3\r\ndef\r\n0\r\n\r\n".utf8))
    var received: [UInt8] = []
    let began = SystemTime.monotonicNanoseconds
    let ending = try ControlClient(path: canned.path, limit: Self.soon).stream("/", isLive: true) { bytes in
      received += bytes
      // The rest is sent when the limit is long over.
      while SystemTime.monotonicNanoseconds - began < 3 * UInt64(Self.soon.nanoseconds) { sched_yield() }
      late.open()
    }
    #expect(ending == .complete)
    #expect(received == Array("abcdef".utf8))
  }

  @Test func `an event is at most as large as a line may be`() {
    var parser = EventStreamParser()
    let half = "data: " + String(repeating: "x", count: EventStreamParser.lineBytesMax * 3 / 4) + "\n"
    let events = parser.parse(Array("\(half)\(half)\n".utf8))
    #expect(events.map(\.count) == [EventStreamParser.lineBytesMax * 3 / 4])
    #expect(parser.parse(Array("data: y\n\n".utf8)) == [[UInt8(ascii: "y")]])
  }
}

struct LogFileTests {
  @Test func `the last lines that are wanted`() throws {
    let folder = TemporaryFolder()
    let path = folder.write("1\n22\n3\n44\n5\n66", to: "log")
    let even = { (line: [UInt8]) in line.count == 2 }
    let text = { (lines: [[UInt8]]) in lines.map { String(decoding: $0, as: UTF8.self) } }
    #expect(try text(LogFile.last(2, of: path, where: even)) == ["44", "66"])
    #expect(try text(LogFile.last(9, of: path, where: even)) == ["22", "44", "66"])
    #expect(try LogFile.last(0, of: path, where: even).isEmpty)
    #expect(throws: CommandFailure.self) { try LogFile.last(1, of: "/tmp") { _ in true } }
  }
}
