import HTTPTransport
import HTTPWire
import LoopbackPeers
import Testing

/// What a server connection makes of the bytes of requests.
struct RequestTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let bytes: String
    let heard: [String]
    var testDescription: String { heard.joined(separator: " | ") }
  }

  static let samples = [
    Sample(bytes: "GET /a HTTP/1.1\r\nHost: x\r\n\r\n", heard: ["GET /a fields 1", "end"]),
    Sample(
      bytes: "\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
      heard: ["POST /b fields 2", "body hello", "end"]),
    Sample(
      bytes: "PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nT: v\r\n\r\n",
      heard: ["PUT /c fields 2", "body abcde", "trailers T=v", "end"]),
    Sample(
      bytes: "PUT /k HTTP/1.1\r\nHost: x\r\nConnection: TE, X-Hop\r\nConnection: x-other\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n0\r\nX-HOP: 1\r\nX-Sum:  2 \r\nx-other: 3\r\nContent-Length: 4\r\n\r\n"
        + "GET /l HTTP/1.1\r\nHost: x\r\n\r\n",
      heard: ["PUT /k fields 4", "trailers X-Sum=2 Content-Length=4", "end", "GET /l fields 1", "end"]),
    Sample(
      bytes: "GET /d HTTP/1.1\r\nHost: x\r\n\r\nPOST /e HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nokGET /f "
        + "HTTP/1.1\r\nHost: x\r\n\r\n",
      heard: ["GET /d fields 1", "end", "POST /e fields 2", "body ok", "end", "GET /f fields 1", "end"]),
    Sample(bytes: "GET /g HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", heard: ["violated bareLineFeed", "closed"]),
    Sample(
      bytes: "POST /h HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      heard: ["POST /h fields 2", "violated chunk size", "closed"]),
    Sample(
      bytes: "GET /i HTTP/1.1\r\nHost: x\r\n\r\n\r\n\r\nGET /j HTTP/1.1\r\n\r\n",
      heard: ["GET /i fields 1", "end", "violated emptyStartLine", "closed"]),
    Sample(
      bytes: "POST /k HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nk\r\n0\r\n\r\n"
        + "PUT /l HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n\r\nHEAD /m HTTP/1.0\r\n\r\n",
      heard: [
        "POST /k fields 2", "body k", "end", "PUT /l fields 3", "end", "HEAD /m fields 0", "end", "closed",
      ]),
    Sample(
      bytes: "POST /n HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      heard: ["violated contentLengthWithTransferEncoding", "closed"]),
    Sample(
      bytes: "POST /o HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n0\r\nT: v\r\n w\r\n\r\n",
      heard: ["POST /o fields 2", "body o", "violated chunk trailer", "closed"]),
    Sample(bytes: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", heard: ["violated http2Preface", "closed"]),
  ]

  @Test(arguments: samples)
  func `a request is the same however it is cut in two`(sample: Sample) throws {
    let turned = TurnedLoop()
    for cut in 0..<sample.bytes.utf8.count {
      let rig = try ServerRig(on: turned)
      let (first, rest) = (sample.bytes.utf8.prefix(cut), sample.bytes.utf8.dropFirst(cut))
      if cut > 0 { #expect(rig.send(String(Substring(first)))) }
      #expect(rig.send(String(Substring(rest))))
      #expect(finish(rig, sample), "cut at \(cut)")
    }
  }

  @Test(arguments: samples)
  func `a request is the same byte by byte`(sample: Sample) throws {
    let rig = try ServerRig()
    for byte in sample.bytes.utf8 { #expect(rig.send(String(decoding: [byte], as: UTF8.self))) }
    #expect(finish(rig, sample))
  }

  /// A connection that was refused lingers until its client closes.
  private func finish(_ rig: ServerRig, _ sample: Sample) -> Bool {
    if sample.heard.last == "closed" {
      rig.client.finishSending()
      guard rig.turn(until: { rig.isClosed }) else { return false }
    }
    #expect(rig.heard == sample.heard)
    return rig.heard == sample.heard
  }

  @Test func `answers to pipelined requests keep their order, also when made late`() throws {
    let rig = try ServerRig()
    var waiting: [ServerConnection] = []
    rig.answer = { waiting.append($0) }
    #expect(rig.send((1...3).map { "GET /\($0) HTTP/1.1\r\nHost: x\r\n\r\n" }.joined()))
    for number in 1...3 {
      #expect(rig.turn { rig.heard.count == 2 * number })
      rig.turned.settle()
      #expect(rig.heard.count == 2 * number)  // one at a time
      #expect(rig.delivered == number - 1)
      let connection = try #require(waiting.last)
      waiting.removeLast()
      connection.respond { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(number)") }
      connection.finishResponse(keepAlive: true)
    }
    #expect(rig.turn { rig.connection?.isIdle == true })
    #expect(rig.client.text == (1...3).map { "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\($0)" }.joined())
    #expect(rig.delivered == 3)
  }

  @Test func `an answer can be taken back until the kernel has some of it`() throws {
    let rig = try ServerRig()
    var isTaken: [Bool] = []
    rig.answer = { connection in
      connection.respond { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") }
      isTaken.append(connection.retractResponse())
      connection.respond { $0.append("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n") }
      connection.finishResponse(keepAlive: true)
    }
    #expect(rig.send("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n"))
    #expect(rig.turn { rig.delivered == 2 })
    #expect(isTaken == [true, true])
    let bad = "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
    #expect(rig.client.text == bad + bad)

    var waiting: ServerConnection?
    rig.answer = { connection in
      connection.respond { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhalf") }
      waiting = connection
    }
    #expect(rig.send("GET /3 HTTP/1.1\r\nHost: x\r\n\r\n"))
    #expect(rig.turn { rig.client.text.hasSuffix("half") })
    #expect(waiting?.retractResponse() == false)
    waiting?.finishResponse(keepAlive: true)
    #expect(waiting?.retractResponse() == false)
    waiting = nil
  }

  @Test func `an interim response that is out does not keep the answer behind it from being taken back`() throws {
    let rig = try ServerRig()
    rig.answer = { $0.respondInterim("HTTP/1.1 100 Continue\r\n\r\n") }
    #expect(rig.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"))
    #expect(rig.turn { rig.client.text == "HTTP/1.1 100 Continue\r\n\r\n" })
    rig.connection?.respond { $0.append("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf") }
    #expect(rig.connection?.retractResponse() == true)
    rig.connection?.respond { $0.append("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n") }
    rig.connection?.finishResponse(keepAlive: true)
    #expect(rig.turn { rig.delivered == 1 })
    #expect(
      rig.client.text == "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
  }

  @Test func `a large body follows a request that was answered late`() throws {
    let rig = try ServerRig()
    var waiting: ServerConnection?
    rig.answer = { waiting = $0 }
    let bytes = 3_000_000
    #expect(rig.send("GET /first HTTP/1.1\r\nHost: x\r\n\r\n"))
    var pending = Array("POST /second HTTP/1.1\r\nHost: x\r\nContent-Length: \(bytes)\r\n\r\n".utf8)
    pending += [UInt8](repeating: 0x61, count: bytes)
    // Sent ahead of its turn until nobody reads any more.
    for _ in 0..<20 {
      pending.removeFirst(rig.client.send(pending))
      turnOnce(rig)
    }
    #expect(!pending.isEmpty)
    #expect(rig.heard == ["GET /first fields 1", "end"])
    rig.answer = {
      $0.respond { $0.append("HTTP/1.1 204 No Content\r\n\r\n") }
      $0.finishResponse(keepAlive: true)
    }
    if let waiting { rig.answer(waiting) }
    #expect(
      rig.turn {
        pending.removeFirst(rig.client.send(pending))
        return rig.heard.count == 5
      })
    #expect(rig.bodyBytes == bytes)
    #expect(rig.heard.last == "end")
  }

  private func turnOnce(_ rig: ServerRig) { rig.turned.settle(rounds: 1) }

  @Test func `HTTP 1.0, and a client that says close, get one answer`() throws {
    for request in ["GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"] {
      let rig = try ServerRig()
      #expect(rig.send(request))
      #expect(rig.isClosed)
      #expect(rig.client.text == "HTTP/1.1 204 No Content\r\n\r\n")
      #expect(rig.client.isOver)
    }
  }

  @Test func `a head larger than allowed is refused before it ends`() throws {
    let rig = try ServerRig()
    #expect(rig.send("GET / HTTP/1.1\r\nHost: x\r\nA: \(String(repeating: "a", count: 40_000))"))
    #expect(rig.heard == ["violated headTooLarge"])
    #expect(rig.client.text.hasPrefix("HTTP/1.1 400 "))
  }

  @Test func `an answer may come while the request's body still does`() throws {
    let rig = try ServerRig()
    rig.onHead = {
      $0.respond { $0.append("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n") }
      $0.finishResponse(keepAlive: true)  // and yet it must close: the rest of the body is no request
    }
    let smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
    #expect(rig.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + smuggled))
    #expect(rig.client.text.hasPrefix("HTTP/1.1 413 "))
    #expect(rig.client.isOver)
    rig.client.close()
    #expect(rig.turn { rig.isClosed })
    #expect(rig.heard == ["POST / fields 2", "closed"])
  }

  @Test func `a handler that closes in a callback hears no more`() throws {
    for close in [ServerConnection.close, ServerConnection.abort] {
      let rig = try ServerRig()
      rig.onHead = { close($0)() }
      #expect(rig.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nokGET / HTTP/1.1\r\nHost: x\r\n\r\n"))
      #expect(rig.heard == ["POST / fields 2", "closed"])
      #expect(eventually { rig.client.isOver })
    }
  }
}
