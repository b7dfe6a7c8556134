import EventLoop
import Glibc
import LoopbackPeers
import Testing

struct StreamSocketTests {
  private func accepted(_ turned: TurnedLoop) throws -> (peer: Peer, recorder: SocketRecorder, socket: StreamSocket) {
    let (peer, descriptor) = try Peer.pair()
    let recorder = SocketRecorder()
    let socket = StreamSocket(loop: turned.loop, accepted: descriptor, delegate: recorder)
    recorder.socket = socket
    return (peer, recorder, socket)
  }

  @Test func `bytes go both ways, and FIN is an end`() throws {
    let turned = TurnedLoop()
    let (peer, recorder, socket) = try accepted(turned)
    socket.resumeReading()
    peer.send("question")
    #expect(turned.turn { recorder.text == "question" })
    #expect(socket.send("answer") == .moved(6))
    #expect(peer.text == "answer")
    peer.finishSending()
    #expect(turned.turn { recorder.ending == .end })
    #expect(socket.isClosed)
    #expect(eventually { peer.isOver })
  }

  @Test func `a paused socket announces nothing until it is resumed`() throws {
    let turned = TurnedLoop()
    let (peer, recorder, socket) = try accepted(turned)
    peer.send("early")
    turned.settle()
    #expect(recorder.reads == 0)
    socket.resumeReading()
    #expect(turned.turn { recorder.text == "early" })
    socket.pauseReading()
    peer.send(" late")
    turned.settle()
    #expect(recorder.text == "early")
    socket.resumeReading()
    #expect(turned.turn { recorder.text == "early late" })
  }

  @Test func `a full kernel is told by wouldBlock, room by one socketWritable`() throws {
    let turned = TurnedLoop()
    let (peer, recorder, socket) = try accepted(turned)
    let block = String(repeating: "x", count: 65_536)
    var sent = 0
    while case .moved(let count) = socket.send(block) { sent += count }
    socket.notifyWhenWritable()
    turned.settle()
    #expect(recorder.writable == 0)
    peer.pump()
    #expect(turned.turn { recorder.writable == 1 })
    turned.settle()
    #expect(recorder.writable == 1)
    #expect(peer.received.count == sent)
  }

  @Test func `an abortive close is a reset, an ordinary one is not`() throws {
    for abortively in [false, true] {
      let turned = TurnedLoop()
      let listener = try PeerListener()
      let peer = try Peer.connect(to: listener.address)
      let recorder = SocketRecorder()
      let ours = try #require(listener.accept())
      let socket = StreamSocket(loop: turned.loop, accepted: dup(ours.descriptor), delegate: recorder)
      ours.close()
      abortively ? socket.closeAbortively() : socket.close()
      #expect(eventually { peer.isOver })
      #expect(peer.wasReset == abortively)
      #expect(socket.isClosed)
      socket.close()
    }
  }

  @Test func `a reset from the peer is a failure of the system`() throws {
    let turned = TurnedLoop()
    let listener = try PeerListener()
    let peer = try Peer.connect(to: listener.address)
    let recorder = SocketRecorder()
    let ours = try #require(listener.accept())
    let socket = StreamSocket(loop: turned.loop, accepted: dup(ours.descriptor), delegate: recorder)
    ours.close()
    recorder.socket = socket
    socket.resumeReading()
    peer.reset()
    #expect(turned.turn { recorder.ending != nil })
    #expect(recorder.ending == .failed(.system(SocketError("recv", code: ECONNRESET))))
  }

  @Test func `an outbound connection is announced later, never from within`() throws {
    let turned = TurnedLoop()
    let listener = try PeerListener()
    let recorder = SocketRecorder()
    let socket = try StreamSocket(loop: turned.loop, connectingTo: listener.address, tls: nil, delegate: recorder)
    recorder.socket = socket
    #expect(recorder.connected == 0)
    #expect(turned.turn { recorder.connected == 1 })
    let peer = try #require(listener.accept())
    #expect(socket.send("hello") == .moved(5))
    #expect(peer.text == "hello")
  }

  @Test func `a refused connection fails once`() throws {
    let turned = TurnedLoop()
    let address = try PeerListener().address  // closed again
    let recorder = SocketRecorder()
    recorder.socket = try StreamSocket(loop: turned.loop, connectingTo: address, tls: nil, delegate: recorder)
    #expect(turned.turn { !recorder.failures.isEmpty })
    turned.settle()
    #expect(recorder.failures == [.system(SocketError("connect", code: ECONNREFUSED))])
  }

  @Test func `a path without a socket is refused at once`() throws {
    let turned = TurnedLoop()
    let folder = TemporaryFolder()
    let address = try #require(SocketAddress(unixPath: folder.file("socket")))
    let recorder = SocketRecorder()
    #expect(throws: SocketError("connect", code: ENOENT)) {
      try StreamSocket(loop: turned.loop, connectingTo: address, tls: nil, delegate: recorder)
    }
  }

  @Test func `an owner may close its socket, and let it go, in every callback`() throws {
    let turned = TurnedLoop()
    let (peer, recorder, socket) = try accepted(turned)
    socket.resumeReading()
    recorder.onReadable = { [unowned recorder] in
      $0.close()
      recorder.socket = nil
    }
    peer.send("bytes")
    #expect(turned.turn { recorder.socket == nil })
    #expect(eventually { peer.isOver })

    let listener = try PeerListener()
    let other = SocketRecorder()
    other.onConnected = { [unowned other] in
      $0.close()
      other.socket = nil
    }
    other.socket = try StreamSocket(loop: turned.loop, connectingTo: listener.address, tls: nil, delegate: other)
    #expect(turned.turn { other.connected == 1 })
    #expect(other.socket == nil)
  }

  @Test func `a descriptor number that is used again in the same round gets its own events only`() throws {
    let turned = TurnedLoop()
    let recorders = try (0..<20).map { _ in try accepted(turned) }
    var replacements: [(peer: Peer, recorder: SocketRecorder, socket: StreamSocket)] = []
    for (_, recorder, socket) in recorders {
      socket.resumeReading()
      recorder.onReadable = { [unowned recorder] socket in
        socket.close()
        recorder.socket = nil
        if let fresh = try? self.accepted(turned) {
          fresh.socket.resumeReading()
          replacements.append(fresh)
        }
      }
    }
    for (peer, _, _) in recorders { peer.send("x") }
    #expect(turned.turn { replacements.count == 20 })
    for (index, fresh) in replacements.enumerated() { fresh.peer.send("\(index)") }
    #expect(turned.turn { replacements.allSatisfy { !$0.recorder.received.isEmpty } })
    #expect(replacements.map(\.recorder.text) == (0..<20).map { "\($0)" })
  }

  @Test func `input nobody asked for is noticed: bytes, an end, nothing`() throws {
    let turned = TurnedLoop()
    let (peer, recorder, socket) = try accepted(turned)
    defer { withExtendedLifetime(recorder) {} }
    #expect(!socket.takesUnexpectedInput())
    #expect(!socket.hasUnreadBytes)
    peer.send("x")
    #expect(socket.hasUnreadBytes)
    #expect(socket.takesUnexpectedInput())
    #expect(!socket.takesUnexpectedInput())
    peer.close()
    #expect(!socket.hasUnreadBytes)
    #expect(socket.takesUnexpectedInput())
  }
}
