import HTTPTransport
import HTTPWire
import LoopbackPeers
import Testing

/// What an upstream connection makes of the bytes of responses.
struct ResponseTests {
  struct Sample: Sendable, CustomTestStringConvertible {
    let bytes: String
    /// Behind "new".
    let heard: [String]
    var methodIsHEAD = false
    /// Whether the server closes behind the bytes.
    var closes = false
    var isKept = true
    var failure: UpstreamFailure?
    var testDescription: String { String(bytes.prefix(60)) }
  }

  static let samples = [
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", heard: ["head 200 fields 1", "body hello", "end"]),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x\r\nde\r\n0\r\nT: v\r\n\r\n",
      heard: ["head 200 fields 1", "body abcde", "trailers T=v", "end"]),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: X-Hop\r\n\r\n"
        + "0\r\nX-Hop: 1\r\nGrpc-Status: 0\r\nGrpc-Status:\r\n\r\n",
      heard: ["head 200 fields 2", "trailers Grpc-Status=0 Grpc-Status=", "end"]),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\nC: d\r\n\r\n",
      heard: ["head 200 fields 1", "failed"], isKept: false, failure: .violation(.chunk(.lineEnd))),
    Sample(bytes: "HTTP/1.1 204 No Content\r\n\r\n", heard: ["head 204 fields 0", "end"]),
    Sample(bytes: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", heard: ["head 304 fields 1", "end"]),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", heard: ["head 200 fields 1", "end"], methodIsHEAD: true),
    Sample(
      bytes: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\n"
        + "Content-Length: 2\r\n\r\nok",
      heard: ["interim 100", "interim 103", "head 200 fields 1", "body ok", "end"]),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
      heard: ["head 200 fields 2", "body ok", "end"], isKept: false),
    Sample(
      bytes: "HTTP/1.0 200 OK\r\n\r\nuntil the end", heard: ["head 200 fields 0", "body until the end", "end"],
      closes: true, isKept: false),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", heard: ["head 200 fields 1", "body half", "failed"],
      closes: true, isKept: false, failure: .closed),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
      heard: ["head 200 fields 1", "body hello", "failed"], closes: true, isKept: false, failure: .closed),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello!!",
      heard: ["head 200 fields 1", "body hello", "failed"], isKept: false, failure: .violation(.chunk(.dataEnd))),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nT: v\r\n w\r\n\r\n",
      heard: ["head 200 fields 1", "body x", "failed"], isKept: false, failure: .violation(.chunk(.trailer))),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", heard: ["failed"],
      isKept: false, failure: .violation(.head(.contentLengthWithTransferEncoding))),
    Sample(
      bytes: "HTTP/1.0 404\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nno",
      heard: ["head 404 fields 2", "body no", "end"]),
    Sample(
      bytes: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nA : b\r\n\r\n", heard: ["interim 100", "failed"],
      isKept: false, failure: .violation(.head(.whitespaceBeforeColon))),
    Sample(
      bytes: "HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n", heard: ["failed"], isKept: false,
      failure: .violation(.head(.bareLineFeed))),
    Sample(
      bytes: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", heard: ["failed"],
      isKept: false, failure: .violation(.unexpectedSwitch)),
    Sample(
      bytes: String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 17),
      heard: Array(repeating: "interim 102", count: 16) + ["failed"], isKept: false,
      failure: .violation(.tooManyInterim)),
  ]

  @Test(arguments: samples)
  func `a response is the same however it is cut in two`(sample: Sample) throws {
    let bytes = Array(sample.bytes.utf8)
    let rig = try UpstreamRig()
    for cut in stride(from: 0, to: bytes.count, by: bytes.count > 200 ? 7 : 1) {
      try expect(sample, on: rig, pieces: [bytes[..<cut], bytes[cut...]])
    }
  }

  @Test(arguments: samples)
  func `a response is the same byte by byte`(sample: Sample) throws {
    let bytes = Array(sample.bytes.utf8)
    try expect(sample, on: try UpstreamRig(), pieces: bytes.indices.map { bytes[$0...$0] })
  }

  private func expect(_ sample: Sample, on rig: UpstreamRig, pieces: [ArraySlice<UInt8>]) throws {
    let exchange = rig.start(head: sample.methodIsHEAD, fresh: true)
    let peer = try #require(rig.accept())
    #expect(rig.turned.turn { peer.text.hasSuffix("\r\n\r\n") })
    for piece in pieces where !piece.isEmpty {
      peer.send(piece)
      rig.turned.settle(rounds: 2)
    }
    if sample.closes { peer.finishSending() }
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.heard == ["new"] + sample.heard)
    #expect(exchange.failure == sample.failure)
    #expect(rig.endpoint.idleConnections == (sample.isKept ? 1 : 0))
    #expect(rig.endpoint.openConnections == (sample.isKept ? 1 : 0))
    rig.dropIdle(peer)
  }

  @Test func `a head larger than allowed is refused before it ends`() throws {
    let rig = try UpstreamRig()
    let (exchange, peer) = rig.exchange()
    peer?.send("HTTP/1.1 200 OK\r\nA: \(String(repeating: "a", count: 40_000))")
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.failure == .violation(.head(.headTooLarge)))
  }

  @Test func `a delegate may cancel in every callback and hears no more`() throws {
    for place in ["ready", "head", "body"] {
      let rig = try UpstreamRig()
      let exchange = StreamExchange("GET / HTTP/1.1\r\n\r\n")
      switch place {
      case "ready": exchange.onReady = { $0.cancel() }
      case "head": exchange.onHead = { $0.cancel() }
      default: exchange.onBody = { $0.cancel() }
      }
      exchange.start(on: rig.endpoint)
      let peer = rig.accept()
      peer?.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody")
      #expect(rig.turned.turn { peer?.isOver == true })
      #expect(exchange.heard.last == ["ready": "new", "head": "head 200 fields 1", "body": "body body"][place])
      #expect(rig.endpoint.openConnections == 0)
    }
  }

  @Test func `a paused response waits, and what was kept of it is passed on when it is resumed`() throws {
    let rig = try UpstreamRig()
    let (exchange, peer) = rig.exchange()
    exchange.onHead = { $0.pauseReading() }
    peer?.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n")
    #expect(rig.turned.turn { exchange.heard.count == 2 })
    peer?.send("6\r\nsecond\r\n")
    rig.turned.settle()
    #expect(exchange.bodyBytes == 0)
    exchange.stream?.resumeReading()
    #expect(exchange.heard.last == "body first")
    #expect(rig.turned.turn { exchange.heard.last == "body firstsecond" })
    peer?.send("0\r\n\r\n")
    #expect(rig.turned.turn { exchange.isOver })
    #expect(rig.endpoint.idleConnections == 1)
  }

  @Test func `a paused response is bounded: the server cannot send on`() throws {
    let rig = try UpstreamRig()
    let (exchange, peer) = rig.exchange()
    exchange.onBody = { $0.pauseReading() }
    peer?.send("HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n")
    let block = [UInt8](repeating: 0x61, count: 1_000_000)
    var sent = 0
    for _ in 0..<60 where sent < 50_000_000 {
      sent += peer?.send(block.prefix(50_000_000 - sent)) ?? 0
      rig.turned.settle()
    }
    #expect(sent < 50_000_000)
    #expect(exchange.bodyBytes <= LoopScratch.inputBytes)
    exchange.onBody = { _ in }
    exchange.stream?.resumeReading()
    #expect(
      rig.turned.turn {
        sent += peer?.send(block.prefix(50_000_000 - sent)) ?? 0
        return exchange.isOver
      })
    #expect(exchange.bodyBytes == 50_000_000)
  }

  @Test func `an answer that comes while the request is being sent is whole, and ends the connection`() throws {
    let rig = try UpstreamRig()
    let exchange = StreamExchange("POST / HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n")
    exchange.finishesSending = false
    exchange.start(on: rig.endpoint)
    let peer = try #require(rig.accept())
    #expect(rig.turned.turn { !exchange.heard.isEmpty })
    let block = [UInt8](repeating: 0x61, count: 9_000_000)
    #expect(block.withUnsafeBytes { exchange.stream?.sendBody($0) } == false)
    peer.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.heard == ["new", "head 413 fields 1", "body no", "end"])
    #expect(rig.endpoint.openConnections == 0)
  }

  @Test func `an answer is read although the server has reset its reading side`() throws {
    let rig = try UpstreamRig()
    let exchange = StreamExchange("POST / HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n")
    exchange.finishesSending = false
    exchange.start(on: rig.endpoint)
    let peer = try #require(rig.accept())
    #expect(rig.turned.turn { !exchange.heard.isEmpty })
    peer.send("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
    peer.close()  // with unread bytes: RST
    let block = [UInt8](repeating: 0x61, count: 100_000)
    for _ in 0..<3 { _ = block.withUnsafeBytes { exchange.stream?.sendBody($0) } }
    #expect(rig.turned.turn { exchange.isOver })
    #expect(exchange.heard == ["new", "head 401 fields 1", "end"])
  }
}

extension UpstreamRig {
  /// Ends an idle connection from the server's side and waits until that is seen.
  func dropIdle(_ peer: Peer) {
    peer.close()
    _ = turned.turn { endpoint.openConnections == 0 }
  }
}
