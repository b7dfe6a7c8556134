import CLinux
import Glibc

/// What one read or write came to. Waiting is a value, never an error.
package enum IOResult: Equatable {
  /// Bytes moved; at least one.
  case moved(Int)
  /// Nothing now; the socket will say when.
  case wouldBlock
  /// The peer has closed its sending side properly (FIN, or TLS close_notify).
  case end
  case failed(SocketFailure)
}

/// Why a connection broke.
package enum SocketFailure: Error, Equatable, Sendable, CustomStringConvertible {
  case system(SocketError)
  /// TLS said no: a certificate, a version, a torn record. OpenSSL's reason text, which holds no data.
  case tls(String)
  /// The peer wants a certificate from us, or another one; a TLS 1.3 server says so behind the handshake. In OpenSSL's
  /// words. RFC 8446 §4.4.2.4
  case certificateRefused(String)
  /// TCP ended without close_notify: the data may have been cut off (RFC 8446 §6.1).
  case truncated

  package var description: String {
    switch self {
    case .system(let error): error.description
    case .tls(let reason): "tls: \(reason)"
    case .certificateRefused(let reason): "tls: client certificate not accepted: \(reason)"
    case .truncated: "tls: connection ended without close_notify"
    }
  }
}

/// What a socket tells its owner.
package protocol StreamSocketDelegate: AnyObject {
  /// An outbound connection is established, TLS included.
  func socketConnected(_ socket: StreamSocket)
  func socketReadable(_ socket: StreamSocket)
  func socketWritable(_ socket: StreamSocket)
  /// Connecting or the TLS handshake failed; nothing more comes.
  func socketFailed(_ socket: StreamSocket, _ failure: SocketFailure)
}

/// A non-blocking stream connection, plain or TLS, on one loop.
///
/// The read event stays armed for the life of the connection and is taken off only for backpressure, so that a
/// request on a keep-alive connection costs no epoll_ctl.
package final class StreamSocket {
  private enum State { case connecting, handshaking, open, closed }

  package let loop: EventLoop
  package private(set) var descriptor: Int32
  /// Set by the owner before any event can arrive; the owner closes the socket before it goes.
  package unowned(unsafe) var delegate: (any StreamSocketDelegate)?
  private var readEvent: LoopEvent?
  private var writeEvent: LoopEvent?
  private var tls: TLSSession?
  private var state: State
  /// Whether the owner wants to hear of readable bytes.
  private var wantsToRead = false
  private var wantsToWrite = false
  private var pendingIsAnnounced = false

  /// Takes over an accepted, connected descriptor. It must be non-blocking.
  package init(loop: EventLoop, accepted descriptor: Int32, delegate: (any StreamSocketDelegate)? = nil) {
    self.loop = loop
    self.descriptor = descriptor
    self.delegate = delegate
    state = .open
    Self.setNoDelay(descriptor)
    makeReadEvent()
  }

  /// Begins to connect; `socketConnected` or `socketFailed` follows, never from within this call.
  ///
  /// - Parameter tls: a client session for the connection, or nil for plain TCP.
  /// - Throws: `SocketError` when no socket can be had.
  package init(
    loop: EventLoop, connectingTo address: SocketAddress, tls: TLSSession?, delegate: any StreamSocketDelegate
  ) throws(SocketError) {
    self.loop = loop
    self.delegate = delegate
    self.tls = tls
    descriptor = socket(
      address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    state = .connecting
    guard descriptor >= 0 else { throw SocketError("socket") }
    if !address.isUnix { Self.setNoDelay(descriptor) }
    if address.withSockaddr({ connect(descriptor, $0, $1) }) != 0, errno != EINPROGRESS {
      let error = SocketError("connect")
      Glibc.close(descriptor)
      descriptor = -1
      throw error
    }
    makeReadEvent()
    awaitRoom()
  }

  deinit { precondition(descriptor < 0, "a socket was dropped without close()") }

  private static func setNoDelay(_ descriptor: Int32) {
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  private func makeReadEvent() {
    // Unretained: the events go with the socket. `Unmanaged`, because a capture would be retained for each event.
    let handle = Unmanaged.passUnretained(self)
    readEvent = LoopEvent(loop: loop, descriptor: descriptor, interest: .read) {
      handle._withUnsafeGuaranteedRef { $0.ready() }
    }
  }

  /// Asks for `writeReady`. Most clients never make their connection need it, so the event is made then.
  private func awaitRoom() {
    if writeEvent == nil {
      let handle = Unmanaged.passUnretained(self)
      writeEvent = LoopEvent(loop: loop, descriptor: descriptor, interest: .write) {
        handle._withUnsafeGuaranteedRef { $0.writeReady() }
      }
    }
    writeEvent?.enable()
  }

  package var isClosed: Bool { state == .closed }
  /// Whether its TLS handshake asks to go on from an earlier connection's session.
  package var hasOfferedSession: Bool { tls?.hasOfferedSession == true }

  /// Closes at once. With TLS a close_notify is tried first, without waiting.
  package func close() {
    guard state != .closed else { return }
    if state == .open { tls?.shutdown() }
    state = .closed
    // Freed with the socket, which outlives this round: one of them may be what is calling.
    readEvent?.disable()
    writeEvent?.disable()
    tls = nil
    Glibc.close(descriptor)
    descriptor = -1
    loop.retire(self)
  }

  /// Ends the sending side (FIN, after close_notify); reading goes on.
  package func shutdownSending() {
    guard state == .open else { return }
    tls?.shutdown()
    Glibc.shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Closes with RST and without close_notify, so that the peer cannot take what it got for a whole message.
  package func closeAbortively() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    tls = nil
    close()
  }

  // MARK: Readiness

  /// Asks for `socketReadable`. Bytes that TLS already holds are announced at once, since no event will come for them.
  package func resumeReading() {
    guard !wantsToRead, state != .closed else { return }
    wantsToRead = true
    guard state == .open else { return }
    readEvent?.enable()
    announcePendingInput()
  }

  /// Calls `socketReadable` in the next round if TLS holds bytes: the kernel will not announce them. For owners that
  /// leave some unread to let others have their turn.
  package func announcePendingInput() {
    guard !pendingIsAnnounced, wantsToRead, hasPendingInput else { return }
    pendingIsAnnounced = true
    loop.nextRound { [self] in
      pendingIsAnnounced = false
      if wantsToRead, state == .open { delegate?.socketReadable(self) }
    }
  }

  /// Stops `socketReadable`: backpressure.
  package func pauseReading() {
    guard wantsToRead else { return }
    wantsToRead = false
    if state == .open { readEvent?.disable() }
  }

  /// Asks for one `socketWritable` when the kernel takes bytes again.
  package func notifyWhenWritable() {
    guard state == .open else { return }
    wantsToWrite = true
    awaitRoom()
  }

  private func ready() {
    switch state {
    case .handshaking: handshake()
    case .open: if wantsToRead { delegate?.socketReadable(self) }
    case .connecting, .closed: break
    }
  }

  private func writeReady() {
    switch state {
    case .connecting: finishConnecting()
    case .handshaking: handshake()
    case .open:
      writeEvent?.disable()
      if wantsToWrite {
        wantsToWrite = false
        delegate?.socketWritable(self)
      }
    case .closed: break
    }
  }

  private func finishConnecting() {
    var code: Int32 = 0
    var byteCount = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &byteCount)
    guard code == 0 else {
      writeEvent?.disable()
      delegate?.socketFailed(self, .system(SocketError("connect", code: code)))
      return
    }
    guard let tls else { return opened() }
    writeEvent?.disable()
    tls.attach(descriptor)
    state = .handshaking
    handshake()
  }

  private func handshake() {
    guard let tls else { return }
    switch tls.handshake() {
    case .done: opened()
    case .wantsRead:
      writeEvent?.disable()
      readEvent?.enable()
    case .wantsWrite:
      readEvent?.disable()
      awaitRoom()
    case .failed(let failure):
      readEvent?.disable()
      writeEvent?.disable()
      delegate?.socketFailed(self, failure)
    }
  }

  private func opened() {
    state = .open
    writeEvent?.disable()
    if wantsToRead { readEvent?.enable() } else { readEvent?.disable() }
    announcePendingInput()
    delegate?.socketConnected(self)
  }

  // MARK: Bytes

  /// Reads what is there: once from the kernel, or as many TLS records as have come and there is room for.
  package func receive(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
    if let tls { return tls.gather(into: buffer) }
    while true {
      let count = proofd_receive(descriptor, buffer.baseAddress, buffer.count)
      if count > 0 { return .moved(count) }
      if count == 0 { return .end }
      switch errno {
      case EAGAIN: return .wouldBlock
      case EINTR: continue
      default: return .failed(.system(SocketError("recv")))
      }
    }
  }

  /// Writes as much as the kernel takes, once.
  package func send(_ bytes: UnsafeRawBufferPointer) -> IOResult {
    if let tls { return tls.write(bytes) }
    while true {
      let count = proofd_send(descriptor, bytes.baseAddress, bytes.count)
      if count >= 0 { return .moved(count) }
      switch errno {
      case EAGAIN: return .wouldBlock
      case EINTR: continue
      default: return .failed(.system(SocketError("send")))
      }
    }
  }

  /// Whether TLS is between the kernel and the owner.
  package var isSecure: Bool { tls != nil }

  /// Whether bytes wait inside TLS that no read event will announce. Read again until this is false.
  package var hasPendingInput: Bool { tls?.hasPending ?? false }

  /// Whether TLS holds anything that has not been read, be it part of a record.
  package var holdsInput: Bool { tls?.holdsInput ?? false }

  /// Whether the peer has sent anything, or closed, while nobody asked. What was found is taken: if so, the connection
  /// is of no more use. TLS's own messages, such as session tickets, are not input; part of a record may be.
  package func takesUnexpectedInput() -> Bool {
    guard let tls else {
      return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { receive(into: $0) != .wouldBlock }
    }
    // Asking the kernel first spares OpenSSL the buffer it would read into.
    if !tls.holdsInput, isKernelEmpty { return false }
    return withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { tls.read(into: $0) != .wouldBlock }
      || tls.holdsInput
  }

  /// Whether a read would block: no bytes, no end, no error.
  private var isKernelEmpty: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN
  }

  /// Whether the peer has ended its sending side, or the connection is gone, whatever is still to be read: for an owner
  /// that does not read now. poll(2)
  package var peerHasLeft: Bool {
    var request = pollfd(fd: descriptor, events: proofd_poll_peer_ended, revents: 0)
    return poll(&request, 1, 0) > 0
  }

  /// Whether the kernel holds bytes that nobody has read: closing now would reset the connection.
  package var hasUnreadBytes: Bool {
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
  }
}
