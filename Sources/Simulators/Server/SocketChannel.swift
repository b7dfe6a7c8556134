import Glibc
import Locking

/// A connected TCP socket.
final class SocketChannel: ByteChannel {
  /// A connection on which nothing moves for this long is given up.
  static let idleSecondsMax = 120

  private struct State {
    var isOpen = true
    var isInterrupted = false
  }

  /// Valid while `state.isOpen`; closed by the owner thread only, so the owner may use it without the lock.
  private let descriptor: Int32
  private let state = Protected(State())

  /// Takes ownership of `descriptor`.
  init(owning descriptor: Int32) {
    self.descriptor = descriptor
    var on: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    var limit = timeval(tv_sec: Self.idleSecondsMax, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close() }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ChannelFailure) -> Int {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if isInterrupted { throw .interrupted }
      if count >= 0 { return count }
      if errno != EINTR { throw failure(errno) }
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws(ChannelFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      if isInterrupted { throw .interrupted }
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw failure(errno)
      }
    }
  }

  func pause(milliseconds: Int) throws(ChannelFailure) {
    // No event is asked for: only the hang-up that interrupt() causes ends the wait early.
    var watch = pollfd(fd: descriptor, events: 0, revents: 0)
    poll(&watch, 1, Int32(clamping: milliseconds))
    if isInterrupted { throw .interrupted }
  }

  var hasPeerLeft: Bool {
    var byte: UInt8 = 0
    let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)
  }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  func close() {
    state.withLock {
      guard $0.isOpen else { return }
      $0.isOpen = false
      Glibc.close(descriptor)
    }
  }

  func reset() {
    var abortively = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &abortively, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  func interrupt() {
    state.withLock {
      $0.isInterrupted = true
      if $0.isOpen { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  private var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

  private func failure(_ code: Int32) -> ChannelFailure {
    code == EAGAIN || code == EWOULDBLOCK ? .idle : .broken
  }
}
