import HTTPTransport
import LoopbackPeers
import Testing

struct ServerBackpressureTests {
  private static let post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n"

  @Test func `a paused body is not read, a resumed one goes on`() throws {
    let rig = try ServerRig()
    rig.onBody = { $0.pauseBody() }
    rig.client.send(Self.post)
    let body = [UInt8](repeating: 0x62, count: 3_000_000)
    var sent = 0
    #expect(
      rig.turn {
        sent += rig.client.send(body[sent...])
        return rig.bodyBytes > 0
      })
    let seen = rig.bodyBytes
    for _ in 0..<5 {
      sent += rig.client.send(body[sent...])
      rig.turned.settle()
    }
    #expect(rig.bodyBytes == seen)
    #expect(sent < body.count)
    #expect(
      rig.turn {
        sent += rig.client.send(body[sent...])
        rig.connection?.resumeBody()
        return rig.bodyBytes == body.count
      })
    #expect(rig.heard.last == "end")
  }

  @Test func `a body that was paused at its end does not pause the next request's`() throws {
    let rig = try ServerRig()
    rig.onBody = { $0.pauseBody() }
    rig.answer = {
      $0.respond { $0.append("HTTP/1.1 204 No Content\r\n\r\n") }
      $0.finishResponse(keepAlive: true)
    }
    let request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n"
    #expect(rig.send("\(request)one\(1)\(request)t"))
    #expect(rig.heard == ["POST / fields 2", "body one1", "end", "POST / fields 2", "body t"])
    rig.connection?.resumeBody()
    rig.client.send("wo2")
    #expect(rig.turn { rig.heard.count == 6 })
    #expect(rig.heard.suffix(2) == ["body two2", "end"])
  }

  @Test func `a client that takes no answers is not read for ever`() throws {
    let rig = try ServerRig()
    let block = String(repeating: "z", count: 60_000)
    rig.answer = {
      $0.respond { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n\(block)") }
      $0.finishResponse(keepAlive: true)
    }
    let request = Array("GET / HTTP/1.1\r\nHost: x\r\nA: \(String(repeating: "a", count: 2_000))\r\n\r\n".utf8)
    var sent = 0
    var stalled = 0
    while stalled < 5, sent < 4_000 {
      stalled = rig.client.send(request) == request.count ? 0 : stalled + 1
      if stalled == 0 { sent += 1 }
      rig.turned.settle()
    }
    #expect(stalled == 5)
    #expect(rig.heard.count < 200)
    // When the client reads, everything is answered.
    rig.client.close()
    #expect(rig.turn { rig.isClosed })
  }

  @Test func `an answer larger than the kernel takes is drained in order`() throws {
    let rig = try ServerRig()
    var sent = 0
    let piece = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 % 251) }
    func more(_ connection: ServerConnection) {
      while sent < 40 {
        sent += 1
        if !piece.withUnsafeBytes({ connection.respond($0) }) { return }
      }
      connection.finishResponse(keepAlive: true)
    }
    rig.onDrained = more
    rig.answer = { connection in
      connection.respond { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n") }
      more(connection)
    }
    #expect(rig.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
    #expect(sent < 40)
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n".utf8.count
    #expect(
      rig.turn {
        rig.client.pump()
        return rig.client.received.count == head + 2_000_000
      })
    let expected = Array(repeatElement(piece, count: 40).joined())
    #expect((Array(rig.client.received.dropFirst(head)) == expected) == true)
    #expect(rig.turn { rig.connection?.isIdle == true })
  }

  @Test func `a client that left while its answer waited is noticed`() throws {
    let rig = try ServerRig()
    let block = [UInt8](repeating: 1, count: 1_000_000)
    rig.answer = { connection in
      connection.respond { $0.append("HTTP/1.1 200 OK\r\n\r\n") }
      #expect(!block.withUnsafeBytes { connection.respond($0) })
    }
    #expect(rig.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
    rig.client.close()
    #expect(rig.turn { rig.isClosed })
    #expect(rig.heard == ["GET / fields 1", "end", "closed"])
  }
}
