import Glibc

/// A blocking TCP connection to the gateway. It knows nothing of HTTP.
struct ClientSocket: ~Copyable {
  /// Nothing a test waits for takes this long; whoever waits longer waits in vain.
  static let patienceSeconds = 20

  enum Failure: Error { case refused, reset, timedOut, broken(Int32) }

  let descriptor: Int32

  init(port: UInt16) throws(Failure) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var patience = timeval(tv_sec: Self.patienceSeconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard connected == 0 else {
      close(descriptor)
      throw .refused
    }
  }

  deinit { close(descriptor) }

  func write(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure(errno) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Waits for bytes; none is the peer's orderly end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count >= 0 { return count }
      if errno != EINTR { throw failure(errno) }
    }
  }

  /// Ends the sending direction; the peer sees a FIN.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Makes closing an RST.
  func resetWhenClosed() {
    var abortively = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abortively, socklen_t(MemoryLayout<linger>.size))
  }

  private func failure(_ code: Int32) -> Failure {
    switch code {
    case ECONNRESET, EPIPE: .reset
    case EAGAIN: .timedOut
    default: .broken(code)
    }
  }
}
