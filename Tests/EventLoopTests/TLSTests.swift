import EventLoop
import Glibc
import LoopbackPeers
import Testing

struct TLSTests {
  static let certificates = TestCertificates.shared

  /// A client of ours and a server on the test's thread.
  private final class Connection {
    let turned = TurnedLoop()
    let listener: PeerListener
    let recorder = SocketRecorder()
    let socket: StreamSocket
    private(set) var server: TLSPeer?
    private let context: TLSContext

    init(
      trusting anchors: TrustAnchors = .file(certificates.authority), server certificate: String = certificates.server,
      name: String = "localhost"
    ) throws {
      listener = try PeerListener()
      context = try TLSContext(
        serving: TLSIdentity(certificateChainFile: certificate, privateKeyFile: certificates.serverKey))
      let client = try TLSContext(trusting: anchors)
      socket = try StreamSocket(
        loop: turned.loop, connectingTo: listener.address, tls: TLSSession(client: client, serverName: name),
        delegate: recorder)
      recorder.socket = socket
    }

    func pump() {
      if server == nil { server = listener.accept().map { TLSPeer($0, context) } }
      server?.pump()
    }

    /// Both sides have done their handshake, or one of them has refused.
    func open() -> Bool {
      turned.turn {
        pump()
        return recorder.connected + recorder.failures.count > 0
      }
    }

    func turn(until condition: () -> Bool) -> Bool {
      turned.turn {
        pump()
        return condition()
      }
    }
  }

  @Test(arguments: ["localhost", "one.wild.test", "127.0.0.1", "::1"])
  func `a certificate for the server's name is accepted`(name: String) throws {
    let connection = try Connection(name: name)
    #expect(connection.open())
    #expect(connection.recorder.failures.isEmpty)
    connection.socket.resumeReading()
    #expect(connection.socket.send("question") == .moved(8))
    #expect(connection.turn { connection.server?.text == "question" })
    connection.server?.send("answer")
    #expect(connection.turn { connection.recorder.text == "answer" })
  }

  @Test(arguments: [
    ("elsewhere.test", "hostname mismatch"), ("two.levels.wild.test", "hostname mismatch"),
    ("wild.test", "hostname mismatch"), ("127.0.0.2", "IP address mismatch"),
  ])
  func `a certificate for another name is refused, in OpenSSL's words`(name: String, reason: String) throws {
    let connection = try Connection(name: name)
    #expect(connection.open())
    #expect(connection.recorder.failures == [.tls("certificate not accepted: \(reason)")])
    #expect(connection.turn { connection.server?.refusal != nil })
  }

  @Test func `a certificate of an authority that is not trusted is refused`() throws {
    let connection = try Connection(trusting: .file(Self.certificates.otherAuthority))
    #expect(connection.open())
    #expect(connection.recorder.failures == [.tls("certificate not accepted: unable to get local issuer certificate")])
  }

  @Test func `yesterday's certificate is refused`() throws {
    let connection = try Connection(server: Self.certificates.expiredServer)
    #expect(connection.open())
    #expect(connection.recorder.failures == [.tls("certificate not accepted: certificate has expired")])
  }

  @Test func `a server that speaks no TLS, or closes in the handshake, is a failure with a reason`() throws {
    for answer in ["HTTP/1.1 400 Bad Request\r\n\r\n", ""] {
      let turned = TurnedLoop()
      let listener = try PeerListener()
      let recorder = SocketRecorder()
      let context = try TLSContext(trusting: .file(Self.certificates.authority))
      recorder.socket = try StreamSocket(
        loop: turned.loop, connectingTo: listener.address, tls: TLSSession(client: context, serverName: "localhost"),
        delegate: recorder)
      var peer: Peer?
      #expect(
        turned.turn {
          if peer == nil, let accepted = listener.accept() {
            peer = accepted
            accepted.send(answer)
            accepted.finishSending()
          }
          return !recorder.failures.isEmpty
        })
      #expect(recorder.failures == [.tls(answer.isEmpty ? "unexpected eof while reading" : "wrong version number")])
    }
  }

  @Test func `an authority is found in a directory by the hash of its subject`() throws {
    let folder = TemporaryFolder()
    #expect(system("cp \(Self.certificates.authority) \(folder.path)/ && openssl rehash \(folder.path) 2>&1") == 0)
    let anchors = TrustAnchors.system(variable: { _ in nil }, directory: folder.path, file: "/nowhere")
    #expect(anchors == .directory(folder.path))
    let trust = TLSTrust(anchors)
    #expect(try trust.context() === trust.context())
    let connection = try Connection(trusting: anchors)
    #expect(connection.open())
    #expect(connection.recorder.failures.isEmpty)
    let other = try Connection(trusting: anchors, server: Self.certificates.expiredServer)
    #expect(other.open())
    #expect(other.recorder.failures == [.tls("certificate not accepted: certificate has expired")])
  }

  @Test func `OpenSSL's variables, and a directory without hashes, leave the choice to OpenSSL`() throws {
    let folder = TemporaryFolder()
    folder.write("", to: "ca-certificates.crt")
    #expect(TrustAnchors.system(variable: { _ in nil }, directory: folder.path) == .openSSL)
    #expect(TrustAnchors.system(variable: { _ in nil }, directory: folder.file("nowhere")) == .openSSL)
    folder.write("", to: "5ed36f99.0")
    for name in ["SSL_CERT_FILE", "SSL_CERT_DIR"] {
      let anchors = TrustAnchors.system(variable: { $0 == name ? "/x" : nil }, directory: folder.path)
      #expect(anchors == .openSSL)
    }
    // Whoever adds an authority to the file by hand means it to be believed.
    let file = folder.file("5ed36f99.0")
    #expect(system("touch -d '1 hour ago' \(folder.path)") == 0)
    #expect(TrustAnchors.system(variable: { _ in nil }, directory: folder.path, file: file) == .openSSL)
    #expect(system("touch -d '2 hours ago' \(file)") == 0)
    #expect(TrustAnchors.system(variable: { _ in nil }, directory: folder.path, file: file) == .directory(folder.path))
    let connection = try Connection(trusting: .openSSL)
    #expect(connection.open())
    #expect(connection.recorder.failures == [.tls("certificate not accepted: unable to get local issuer certificate")])
  }

  @Test func `files that cannot be used are errors with a reason`() throws {
    let folder = TemporaryFolder()
    let (missing, empty) = (folder.file("missing"), folder.write("", to: "empty"))
    let absent = #expect(throws: TLSConfigurationError.self) { try TLSContext(trusting: .file(missing)) }
    #expect(absent?.description == "\(missing): No such file or directory")
    #expect(throws: TLSConfigurationError.self) { try TLSContext(trusting: .file(empty)) }
    for (chain, key, blamed) in [
      (missing, Self.certificates.serverKey, missing), (Self.certificates.server, empty, empty),
      (Self.certificates.authority, Self.certificates.serverKey, Self.certificates.serverKey),
      (Self.certificates.server, Self.certificates.encryptedKey, Self.certificates.encryptedKey),
      (Self.certificates.server, Self.certificates.encryptedPKCS8, Self.certificates.encryptedPKCS8),
    ] {
      let error = #expect(throws: TLSConfigurationError.self) {
        try TLSContext(serving: TLSIdentity(certificateChainFile: chain, privateKeyFile: key))
      }
      #expect(error?.description.hasPrefix("\(blamed): ") == true)
    }
  }

  @Test func `close_notify is an end, a connection that just stops is truncated`() throws {
    for isProper in [true, false] {
      let connection = try Connection()
      #expect(connection.open())
      connection.socket.resumeReading()
      let server = try #require(connection.server)
      server.send("all")
      if isProper { server.sendCloseNotify() }
      server.peer.finishSending()
      #expect(connection.turn { connection.recorder.ending != nil })
      #expect(connection.recorder.text == "all")
      #expect(connection.recorder.ending == (isProper ? .end : .failed(.truncated)))
    }
  }

  @Test func `closing sends close_notify once, closing abortively does not`() throws {
    for abortively in [false, true] {
      let connection = try Connection()
      #expect(connection.open())
      _ = connection.socket.send("all")
      if !abortively { connection.socket.shutdownSending() }
      abortively ? connection.socket.closeAbortively() : connection.socket.close()
      #expect(connection.turn { connection.server?.ending != nil })
      #expect((connection.server?.ending == .end) == !abortively)
    }
  }

  /// Records are at most 16 KiB: read ahead, several lie in OpenSSL's memory when the kernel has no more to announce.
  @Test(arguments: [1, 100, 5_000, 65_536])
  func `whatever TLS read ahead is handed out, however little is taken at once`(readBytes: Int) throws {
    let connection = try Connection()
    #expect(connection.open())
    connection.recorder.readBytes = readBytes
    connection.socket.resumeReading()
    let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
    connection.server?.send(bytes)
    #expect(connection.turn { connection.recorder.received.count == bytes.count })
    #expect((connection.recorder.received == bytes) == true)
  }

  @Test func `records that have come are one read, and what ended the connection behind them is the next`() throws {
    let connection = try Connection()
    #expect(connection.open())
    let server = try #require(connection.server)
    let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
    #expect(server.send(bytes) == bytes.count)
    server.sendCloseNotify()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    #expect(buffer.withUnsafeMutableBytes { connection.socket.receive(into: $0) } == .moved(bytes.count))
    #expect((Array(buffer[..<bytes.count]) == bytes) == true)
    // The connection itself stays open: nothing but TLS knows of its end.
    #expect(connection.socket.hasPendingInput)
    #expect(buffer.withUnsafeMutableBytes { connection.socket.receive(into: $0) } == .end)
    #expect(buffer.withUnsafeMutableBytes { connection.socket.receive(into: $0) } == .end)
  }

  @Test func `bytes that TLS holds are announced when reading is resumed`() throws {
    let connection = try Connection()
    #expect(connection.open())
    connection.recorder.readBytes = 10
    // Session tickets make the socket readable as well.
    connection.recorder.onReadable = { [unowned recorder = connection.recorder] in
      if recorder.received.count % 10 == 0, !recorder.received.isEmpty { $0.pauseReading() }
    }
    connection.socket.resumeReading()
    connection.server?.send(String(repeating: "x", count: 30))
    for expected in [10, 20, 30] {
      #expect(connection.turn { connection.recorder.received.count == expected })
      connection.turned.settle()
      #expect(connection.recorder.received.count == expected)
      connection.socket.resumeReading()
    }
  }

  @Test func `a torn record waits for its rest`() throws {
    let connection = try Connection()
    #expect(connection.open())
    connection.socket.resumeReading()
    // A second session over a pair of sockets would be needed to cut a record; the header alone does as well.
    connection.server?.peer.send([0x17, 0x03, 0x03])
    #expect(connection.turn { connection.socket.holdsInput })
    // Nothing is asked of it until then, also not by one who pauses.
    let reads = connection.recorder.reads
    #expect(!connection.socket.hasPendingInput)
    connection.socket.pauseReading()
    connection.socket.resumeReading()
    connection.turned.settle()
    #expect(connection.recorder.reads == reads)
    #expect(connection.recorder.ending == nil)
    connection.server?.peer.send([0x00, 0x01, 0x00])
    #expect(connection.turn { connection.recorder.ending != nil })
    guard case .failed(.tls) = connection.recorder.ending else {
      Issue.record("a record that nobody encrypted was taken for \(String(describing: connection.recorder.ending))")
      return
    }
  }

  @Test func `a write that was cut short goes on from another buffer, with more behind it`() throws {
    let connection = try Connection()
    #expect(connection.open())
    let server = try #require(connection.server)
    Peer.limitBuffers(of: connection.socket.descriptor)
    server.peer.limitBuffers()
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13 >> 5) }
    var sent = 0
    var blocked = 0
    var offered = 100_000
    while sent < bytes.count {
      // Another buffer each time, and after a wait a longer one.
      let copy = Array(bytes[sent..<max(sent + 1, min(offered, bytes.count))])
      switch copy.withUnsafeBytes({ connection.socket.send($0) }) {
      case .moved(let count): sent += count
      case .wouldBlock:
        blocked += 1
        offered += 10_000
        connection.socket.notifyWhenWritable()
        let before = connection.recorder.writable
        #expect(connection.turn { connection.recorder.writable > before })
      case let other:
        Issue.record("\(other)")
        return
      }
      if sent == offered { offered += 100_000 }
    }
    #expect(blocked > 0)
    #expect(connection.turn { server.received.count == bytes.count })
    #expect((server.received == bytes) == true)
  }

  @Test func `session tickets are not unexpected input, bytes are`() throws {
    let connection = try Connection()
    #expect(connection.open())
    // TLS 1.3 tickets have come behind the handshake.
    #expect(connection.turn { connection.socket.hasUnreadBytes })
    #expect(!connection.socket.takesUnexpectedInput())
    #expect(!connection.socket.hasUnreadBytes)
    #expect(!connection.socket.takesUnexpectedInput())
    #expect(connection.server?.send("x") == 1)
    #expect(connection.socket.hasUnreadBytes)
    #expect(connection.socket.takesUnexpectedInput())
  }

  @Test func `part of a record is unexpected input`() throws {
    let connection = try Connection()
    #expect(connection.open())
    #expect(!connection.socket.takesUnexpectedInput())
    connection.server?.peer.send([0x17, 0x03, 0x03])
    #expect(connection.socket.takesUnexpectedInput())
  }
}
