import EventLoop
import HTTPTransport
import HTTPWire
import LoopbackPeers
import Testing

/// How server connections end: by time, by draining, by either side.
struct ServerClosingTests {
  private static let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
  private static let soon: UInt64 = 60_000_000
  private static let never: UInt64 = 3_600_000_000_000

  private static func timeouts(_ change: (inout ServerTimeouts) -> Void) -> ServerTimeouts {
    var timeouts = ServerTimeouts()
    (timeouts.head, timeouts.idle, timeouts.body, timeouts.send, timeouts.linger) = (never, never, never, never, never)
    change(&timeouts)
    return timeouts
  }

  @Test func `a client that says nothing is closed without a word`() throws {
    let rig = try ServerRig(timeouts: Self.timeouts { $0.head = Self.soon })
    #expect(rig.turn { rig.isClosed })
    #expect(rig.heard == ["closed"])
    #expect(rig.client.text.isEmpty)
  }

  @Test func `an idle connection is closed without a word`() throws {
    let rig = try ServerRig(timeouts: Self.timeouts { $0.idle = Self.soon })
    #expect(rig.send(Self.get))
    #expect(rig.turn { rig.isClosed })
    #expect(rig.client.text == "HTTP/1.1 204 No Content\r\n\r\n")
  }

  @Test(arguments: ["", get]) func `a head that does not end is answered 408`(before: String) throws {
    let rig = try ServerRig(
      timeouts: Self.timeouts {
        $0.head = Self.soon
        $0.linger = Self.soon
      })
    #expect(rig.send(before + "GET / HTTP/1.1\r\nHo"))
    #expect(rig.turn { rig.isClosed })
    #expect(rig.heard.suffix(2) == ["timed out", "closed"])
    #expect(rig.client.text.contains("HTTP/1.1 408 "))
  }

  @Test func `bytes that trickle in do not prolong a head's time`() throws {
    let rig = try ServerRig(timeouts: Self.timeouts { $0.head = 200_000_000 })
    let began = SystemTime.monotonicNanoseconds
    var lastSent: UInt64 = 0
    #expect(
      rig.turn {
        if SystemTime.monotonicNanoseconds - lastSent > 5_000_000 {
          lastSent = SystemTime.monotonicNanoseconds
          rig.client.send("a")
        }
        return !rig.heard.isEmpty
      })
    #expect(rig.heard == ["timed out"])
    #expect(SystemTime.monotonicNanoseconds - began < 10_000_000_000)
  }

  @Test func `a body that stops coming is answered 408, one that is paused is not`() throws {
    let rig = try ServerRig(timeouts: Self.timeouts { $0.body = Self.soon })
    #expect(rig.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"))
    rig.connection?.pauseBody()
    let began = SystemTime.monotonicNanoseconds
    #expect(
      rig.turn {
        rig.turned.loop.nextRound {}
        return SystemTime.monotonicNanoseconds - began > 4 * Self.soon
      })
    #expect(rig.heard == ["POST / fields 2", "body abc"])
    rig.connection?.resumeBody()
    #expect(rig.turn { rig.heard.last == "timed out" })
    #expect(rig.client.text.contains("HTTP/1.1 408 "))
  }

  /// In each phase: while it is answered, after the answer, with the next request waiting, and while the body is paused.
  @Test(arguments: ["answering", "answered", "pipelined", "paused body"])
  func `a client that takes nothing is closed`(phase: String) throws {
    let rig = try ServerRig(timeouts: Self.timeouts { $0.send = Self.soon })
    let block = [UInt8](repeating: 1, count: 1_000_000)
    let begin: (ServerConnection) -> Void = { connection in
      connection.respond { $0.append("HTTP/1.1 200 OK\r\n\r\n") }
      _ = block.withUnsafeBytes { connection.respond($0) }
    }
    switch phase {
    case "answering":
      rig.answer = begin
      #expect(rig.send(Self.get))
    case "answered", "pipelined":
      rig.answer = {
        begin($0)
        $0.finishResponse(keepAlive: true)
      }
      #expect(rig.send(phase == "answered" ? Self.get : Self.get + Self.get))
    default:
      rig.onHead = {
        begin($0)
        $0.pauseBody()
      }
      #expect(rig.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"))
    }
    #expect(rig.turn { rig.isClosed })
    #expect(!rig.heard.contains("timed out"))
  }

  @Test func `a request that came in time is served, however late the loop comes to it`() throws {
    let rig = try ServerRig()
    #expect(rig.send(Self.get))
    #expect(rig.turn { rig.connection?.isIdle == true })
    let late = Deadline(on: rig.turned.loop)
    rig.client.send(Self.get)
    rig.connection?.deadlinePassed(late)
    #expect(rig.turn { rig.delivered == 2 })
    // A head that goes on coming gains no more than that.
    #expect(rig.send("GET / HT"))
    for piece in ["TP/1", ".1"] {
      #expect(rig.heard.last != "timed out")
      rig.client.send(piece)
      rig.connection?.deadlinePassed(late)
    }
    #expect(rig.heard.last == "timed out")
    #expect(rig.turn { rig.client.text.contains("HTTP/1.1 408 ") })
  }

  /// An answer that ends with the connection would look whole.
  @Test func `a client that takes nothing sees that its answer is cut`() throws {
    let rig = try ServerRig(timeouts: Self.timeouts { $0.send = Self.soon }, overTCP: true)
    let block = [UInt8](repeating: 1, count: 16_000_000)
    rig.answer = { connection in
      connection.respond { $0.append("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") }
      _ = block.withUnsafeBytes { connection.respond($0) }
      connection.finishResponse(keepAlive: false)
    }
    #expect(rig.send(Self.get))
    #expect(rig.turn { rig.isClosed })
    #expect(rig.delivered == 0)
    #expect(eventually { rig.client.isOver })
    #expect(rig.client.wasReset)
  }

  /// The last of an early answer is written at once when it is large; the rest of the body is thrown away all the same.
  @Test(arguments: [100, 20_000])
  func `a client that sends all before it reads gets an early answer of any size`(bytes: Int) throws {
    let rig = try ServerRig(overTCP: true)
    let block = [UInt8](repeating: 1, count: bytes)
    rig.onHead = { $0.pauseBody() }
    #expect(rig.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000\r\n\r\n"))
    rig.connection?.respond { $0.append("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\n") }
    _ = block.withUnsafeBytes { rig.connection?.respond($0) }
    rig.connection?.finishResponse(keepAlive: true)
    var left = 9_000_000
    let piece = [UInt8](repeating: 0x61, count: 100_000)
    #expect(
      rig.turn {
        left -= rig.client.send(piece[..<min(left, piece.count)])
        return left == 0
      })
    #expect(rig.turn { rig.client.text.utf8.count > bytes })
  }

  @Test func `a client that takes its answer slowly is not closed`() throws {
    let rig = try ServerRig(timeouts: Self.timeouts { $0.send = 400_000_000 })
    let block = [UInt8](repeating: 1, count: 3_000_000)
    rig.answer = { connection in
      connection.respond { $0.append("HTTP/1.1 200 OK\r\n\r\n") }
      _ = block.withUnsafeBytes { connection.respond($0) }
      connection.finishResponse(keepAlive: true)
    }
    #expect(rig.send(Self.get))
    var lastRead = SystemTime.monotonicNanoseconds
    #expect(
      rig.turn {
        if SystemTime.monotonicNanoseconds - lastRead > 100_000_000 {
          lastRead = SystemTime.monotonicNanoseconds
          rig.client.pump()
        }
        return rig.isClosed || rig.client.received.count > block.count
      })
    #expect(!rig.isClosed)
  }

  @Test func `a refused client that goes on sending gets its answer, not a reset`() throws {
    let rig = try ServerRig(overTCP: true)
    rig.onHead = {
      $0.respond { $0.append("HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\n") }
      $0.finishResponse(keepAlive: false)
    }
    #expect(rig.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99000000\r\n\r\n"))
    // It reads nothing before it has sent much.
    let block = [UInt8](repeating: 0x61, count: 65_536)
    var sent = 0
    #expect(
      rig.turn {
        sent += rig.client.send(block)
        return sent > 20_000_000 || rig.isClosed
      })
    #expect(!rig.isClosed)
    #expect(rig.client.text == "HTTP/1.1 413 Too Large\r\nConnection: close\r\n\r\n")
    #expect(rig.client.hasEnded)
    rig.client.close()
    #expect(rig.turn { rig.isClosed })
  }

  @Test func `requests sent behind one that ends the connection do not destroy its answer`() throws {
    let rig = try ServerRig(overTCP: true)
    rig.answer = { [client = rig.client] connection in
      // They arrive after the first was read.
      client.send(Self.get)
      connection.respond { $0.append("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") }
      connection.finishResponse(keepAlive: false)
    }
    #expect(rig.send(Self.get))
    rig.client.send(Self.get)
    #expect(rig.turn { rig.client.isOver })
    #expect(rig.client.text == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    #expect(!rig.client.wasReset)
    rig.client.close()
    #expect(rig.turn { rig.isClosed })
  }

  @Test func `a request sent after an answer that ends the connection does not destroy it`() throws {
    let rig = try ServerRig(overTCP: true)
    rig.answer = { connection in
      connection.respond { $0.append("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") }
      connection.finishResponse(keepAlive: false)
    }
    #expect(rig.send(Self.get))
    for _ in 0..<3 { rig.client.send(Self.get) }
    #expect(rig.turn { rig.client.isOver })
    #expect(rig.client.text == "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
    #expect(!rig.client.wasReset)
    rig.client.close()
    #expect(rig.turn { rig.isClosed })
  }

  @Test func `a client that asked to close is not waited for`() throws {
    let rig = try ServerRig(overTCP: true)
    #expect(rig.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
    #expect(rig.turn { rig.isClosed })
    #expect(rig.client.text == "HTTP/1.1 204 No Content\r\n\r\n")
  }

  @Test func `lingering ends by time`() throws {
    let rig = try ServerRig(timeouts: Self.timeouts { $0.linger = Self.soon })
    #expect(rig.send("nonsense\u{1}\r\n\r\n"))
    #expect(rig.turn { rig.isClosed })
    #expect(rig.client.text.hasPrefix("HTTP/1.1 400 "))
  }

  @Test func `an aborted answer ends with a reset`() throws {
    let rig = try ServerRig(overTCP: true)
    rig.answer = { connection in
      connection.respond { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhal") }
      connection.abort()
    }
    #expect(rig.send(Self.get))
    #expect(eventually { rig.client.isOver })
    #expect(rig.client.wasReset)
  }

  @Test func `a client that leaves is told in every phase, once`() throws {
    for request in ["", "GET / HT", Self.get, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"] {
      let rig = try ServerRig()
      rig.answer = { _ in }
      if !request.isEmpty { #expect(rig.send(request)) }
      rig.client.finishSending()
      #expect(rig.turn { rig.isClosed })
      #expect(rig.heard.filter { $0 == "closed" }.count == 1)
      #expect(rig.heard.last == "closed")
    }
  }

  @Test func `draining closes what is idle and lets what is under way finish`() throws {
    let turned = TurnedLoop()
    let (idle, busy, begun) = (try ServerRig(on: turned), try ServerRig(on: turned), try ServerRig(on: turned))
    var waiting: ServerConnection?
    busy.answer = { waiting = $0 }
    #expect(busy.send(Self.get + Self.get))
    #expect(begun.send("GET / HTTP/1.1\r\n"))
    for rig in [idle, busy, begun] { rig.connection?.drain() }
    #expect(idle.isClosed)
    #expect(!busy.isClosed && !begun.isClosed)
    if let waiting {
      waiting.respond { $0.append("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") }
      waiting.finishResponse(keepAlive: true)
    }
    #expect(busy.turn { busy.client.isOver })
    #expect(busy.client.text == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    #expect(begun.send("Host: x\r\n\r\n"))
    #expect(begun.turn { begun.client.isOver })
    #expect(begun.client.text == "HTTP/1.1 204 No Content\r\n\r\n")
  }

  @Test(arguments: [true, false])
  func `while draining the rest of a head is waited for shortly, that of a body as ever`(isRead: Bool) throws {
    let timeouts = Self.timeouts { _ in }
    let head = try ServerRig(timeouts: timeouts)
    let body = try ServerRig(on: head.turned, timeouts: timeouts)
    head.client.send("GET / HT")
    if isRead { #expect(head.turn { head.connectionUnreadBytes == 0 }) }
    #expect(body.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"))
    for rig in [head, body] { rig.connection?.drain() }
    #expect(!head.isClosed)
    let began = SystemTime.monotonicNanoseconds
    #expect(head.turn { head.isClosed })
    #expect(SystemTime.monotonicNanoseconds - began < 10_000_000_000)
    #expect(head.heard == ["timed out", "closed"])
    #expect(head.client.text.hasPrefix("HTTP/1.1 408 "))
    #expect(!body.isClosed)
    #expect(body.send("defghi"))
    #expect(body.client.text == "HTTP/1.1 204 No Content\r\n\r\n")
  }

  @Test func `draining does not cut off an answer that waits for its client`() throws {
    let rig = try ServerRig()
    let block = [UInt8](repeating: 1, count: 2_000_000)
    rig.answer = { connection in
      _ = block.withUnsafeBytes { connection.respond($0) }
      connection.finishResponse(keepAlive: true)
    }
    #expect(rig.send(Self.get))
    rig.connection?.drain()
    rig.client.send("\r\n")
    rig.turned.settle()
    #expect(!rig.isClosed)
    #expect(
      rig.turn {
        rig.client.pump()
        return rig.isClosed
      })
    #expect(rig.client.isOver)
    #expect(rig.client.received.count == block.count)
  }

  @Test func `an idle connection holds no buffer, and its list hears of its end`() throws {
    let rig = try ServerRig()
    var forgotten = 0
    rig.connection?.whenClosed = { _ in forgotten += 1 }
    #expect(rig.send(Self.get))
    #expect(rig.connection?.isIdle == true)
    #expect(rig.connection?.pendingBytes == 0)
    rig.connection?.close()
    #expect(forgotten == 1)
    #expect(rig.heard.last == "closed")
  }

  /// No event tells of it: the connection is looked at each second.
  @Test(arguments: [true, false])
  func `a client that leaves while it is not read is noticed`(rudely: Bool) throws {
    let rig = try ServerRig(overTCP: true)
    rig.onBody = { $0.pauseBody() }
    rig.client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
    #expect(rig.turn { rig.heard.count == 1 })
    rig.client.send(String(repeating: "x", count: 100_000))
    #expect(rig.turn { rig.bodyBytes > 0 })
    if rudely { rig.client.reset() } else { rig.client.close() }
    #expect(rig.turn { rig.isClosed })
  }

  @Test func `a body whose answer has begun is not timed`() throws {
    var timeouts = ServerTimeouts()
    timeouts.body = 50_000_000
    let rig = try ServerRig(timeouts: timeouts)
    rig.onHead = { connection in
      connection.beginResponse()
      connection.respond { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab") }
    }
    #expect(rig.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"))
    let other = try ServerRig(on: rig.turned, timeouts: timeouts)
    #expect(other.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc"))
    // The other one's time is over, and so would this one's be.
    #expect(rig.turn { other.heard.contains("timed out") })
    #expect(!rig.heard.contains("timed out"))
    #expect(!rig.isClosed)
  }
}
