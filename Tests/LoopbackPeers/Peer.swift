package import EventLoop
import Glibc

/// The other end of a connection: a bare non-blocking socket that the test reads and writes itself.
package final class Peer {
  package let descriptor: Int32
  /// All bytes that came.
  package private(set) var received: [UInt8] = []
  /// FIN came.
  package private(set) var hasEnded = false
  /// RST came.
  package private(set) var wasReset = false
  private var isOpen = true

  /// Takes over a connected descriptor and makes it non-blocking.
  package init(owning descriptor: Int32) {
    self.descriptor = descriptor
    let flags = fcntl(descriptor, F_GETFL, 0)
    _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
    // What a test has sent must be there when it looks.
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Connects over TCP or a UNIX-domain socket; the kernel completes it before the listener accepts.
  ///
  /// - Parameter source: the local address to come from; any when nil.
  package static func connect(to address: SocketAddress, from source: SocketAddress? = nil) throws(SocketError) -> Peer
  {
    let descriptor = socket(address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketError("socket") }
    if let source, source.withSockaddr({ bind(descriptor, $0, $1) }) != 0 {
      let error = SocketError("bind")
      Glibc.close(descriptor)
      throw error
    }
    if address.withSockaddr({ Glibc.connect(descriptor, $0, $1) }) != 0 {
      let error = SocketError("connect")
      Glibc.close(descriptor)
      throw error
    }
    return Peer(owning: descriptor)
  }

  /// Two connected UNIX-domain sockets: a peer, and a non-blocking descriptor for what is tested.
  package static func pair() throws(SocketError) -> (peer: Peer, descriptor: Int32) {
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SocketError("socketpair") }
    return (Peer(owning: ends[0]), ends[1])
  }

  deinit { close() }

  /// Sends as much of `bytes` as the kernel takes. - Returns: how much that was.
  @discardableResult
  package func send(_ bytes: some Collection<UInt8>) -> Int {
    let bytes = Array(bytes)
    return max(0, Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)))
  }

  @discardableResult
  package func send(_ text: String) -> Int { send(text.utf8) }

  /// Takes what has come.
  package func pump() {
    guard isOpen, !hasEnded, !wasReset else { return }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        received += buffer[..<count]
      } else if count == 0 {
        hasEnded = true
        return
      } else {
        if errno == ECONNRESET { wasReset = true }
        return
      }
    }
  }

  /// What has come, as text.
  package var text: String {
    pump()
    return String(decoding: received, as: UTF8.self)
  }

  /// Whether the other side has closed, in whichever way.
  package var isOver: Bool {
    pump()
    return hasEnded || wasReset
  }

  package func forgetReceived() { received = [] }

  package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  package func close() {
    guard isOpen else { return }
    isOpen = false
    Glibc.close(descriptor)
  }

  /// Closes with RST.
  package func reset() {
    var abortively = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abortively, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  /// Makes the kernel hold little, so that backpressure begins early.
  package func limitBuffers() { Self.limitBuffers(of: descriptor) }

  package static func limitBuffers(of descriptor: Int32) {
    for option in [SO_SNDBUF, SO_RCVBUF] {
      var bytes: Int32 = 65_536
      setsockopt(descriptor, SOL_SOCKET, option, &bytes, socklen_t(MemoryLayout<Int32>.size))
    }
  }
}

/// A port, or a path, that connections come to.
package final class PeerListener {
  package let address: SocketAddress
  private let descriptor: Int32

  package init(binding wanted: SocketAddress, backlog: Int32 = 64) throws(SocketError) {
    let group = try ListenerGroup(binding: wanted, count: 1, backlog: backlog)
    address = group.address
    descriptor = group.descriptors[0]
  }

  /// On a free port of 127.0.0.1.
  package convenience init() throws(SocketError) {
    let address = SocketAddress(numericHost: "127.0.0.1", port: 0)
    guard let address else { throw SocketError("inet_pton", code: EINVAL) }
    try self.init(binding: address)
  }

  deinit { close(descriptor) }

  package var port: UInt16 { address.port ?? 0 }

  /// The next connection; nil when none is waiting.
  package func accept() -> Peer? { acceptDescriptor().map { Peer(owning: $0) } }

  /// The next connection as a non-blocking descriptor, which the caller owns.
  package func acceptDescriptor() -> Int32? {
    let connection = Glibc.accept(descriptor, nil, nil)
    guard connection >= 0 else { return nil }
    _ = fcntl(connection, F_SETFL, fcntl(connection, F_GETFL, 0) | O_NONBLOCK)
    return connection
  }
}

/// Asks until `condition` holds. For what the kernel does a moment later when a process that another test started
/// still shares our descriptors, between its fork and its exec.
///
/// - Returns: false when it never came to be.
package func eventually(_ condition: () -> Bool) -> Bool {
  let end = SystemTime.monotonicNanoseconds + TurnedLoop.patienceNanoseconds
  while !condition() {
    if SystemTime.monotonicNanoseconds > end { return false }
    sched_yield()
  }
  return true
}

extension SocketAddress {
  /// Lends the address to a system call.
  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withRawAddress { body($0.assumingMemoryBound(to: sockaddr.self), socklen_t($1)) }
  }
}

/// How many bytes have come to a socket that nobody has read.
package func unreadBytes(of descriptor: Int32) -> Int {
  var buffer = [UInt8](repeating: 0, count: 65_536)
  return max(0, recv(descriptor, &buffer, buffer.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)))
}
