import CLinux
import Glibc

/// A bound address that several loops accept from, each on a socket of its own (`SO_REUSEPORT`).
///
/// The first socket is bound without `SO_REUSEPORT`, so that a leftover instance of ours on the same port is an
/// error and not a silent sharing of its connections; only then is the port opened to the sockets of the other loops.
package struct ListenerGroup: Sendable {
  package let address: SocketAddress
  /// One listening descriptor a loop; each is owned by whoever takes it.
  package let descriptors: [Int32]

  /// - Throws: `SocketError`; `isAddressInUse` when another process listens there.
  package init(binding wanted: SocketAddress, count: Int, backlog: Int32 = 1024) throws(SocketError) {
    precondition(count > 0)
    var opened: [Int32] = []
    do throws(SocketError) {
      let first = try Self.bind(to: wanted, shared: false)
      opened.append(first)
      guard let bound = SocketAddress.local(of: first) else { throw SocketError("getsockname") }
      if !bound.isUnix { try Self.setOption(first, SOL_SOCKET, SO_REUSEPORT) }
      try Self.listen(first, backlog)
      for _ in 1..<max(count, 1) {
        if bound.isUnix {
          // UNIX-domain sockets cannot be shared by address; the loops share the queue of one.
          let copy = fcntl(first, F_DUPFD_CLOEXEC, 0)
          guard copy >= 0 else { throw SocketError("fcntl") }
          opened.append(copy)
        } else {
          let next = try Self.bind(to: bound, shared: true)
          opened.append(next)
          try Self.listen(next, backlog)
        }
      }
      address = bound
      descriptors = opened
    } catch {
      for descriptor in opened { close(descriptor) }
      throw error
    }
  }

  private static func bind(to address: SocketAddress, shared: Bool) throws(SocketError) -> Int32 {
    let descriptor = socket(
      address.family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw SocketError("socket") }
    do throws(SocketError) {
      if address.isUnix {
        // For its owner only, from the moment it can be seen; the umask is the whole process's.
        if fchmod(descriptor, 0o600) != 0 { throw SocketError("fchmod") }
      } else {
        try setOption(descriptor, SOL_SOCKET, SO_REUSEADDR)
        if shared { try setOption(descriptor, SOL_SOCKET, SO_REUSEPORT) }
        if address.family == AF_INET6 { try setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY) }
      }
      if address.withSockaddr({ Glibc.bind(descriptor, $0, $1) }) != 0 { throw SocketError("bind") }
    } catch {
      close(descriptor)
      throw error
    }
    return descriptor
  }

  private static func listen(_ descriptor: Int32, _ backlog: Int32) throws(SocketError) {
    if Glibc.listen(descriptor, backlog) != 0 { throw SocketError("listen") }
  }

  private static func setOption(_ descriptor: Int32, _ level: Int32, _ name: Int32) throws(SocketError) {
    var on: Int32 = 1
    if setsockopt(descriptor, level, name, &on, socklen_t(MemoryLayout<Int32>.size)) != 0 {
      throw SocketError("setsockopt")
    }
  }
}

/// Accepts connections from one listening descriptor on one loop.
package final class Acceptor {
  /// How many connections one round of events takes, so that a burst does not starve the open ones.
  private static let acceptsPerRound = 64

  private let descriptor: Int32
  private var event: LoopEvent?
  private let loop: EventLoop
  private let mayTake: () -> Bool
  private let tookNone: () -> Void
  private let accepted: (Int32, SocketAddress) -> Void
  private let failed: (SocketError) -> Void

  /// - Parameters:
  ///   - descriptor: a listening socket; the acceptor owns it.
  ///   - mayTake: asked before each connection is taken. Whoever says no pauses the acceptor, or is asked again.
  ///   - tookNone: there was no connection to take after all.
  ///   - accepted: takes over the connection's descriptor.
  ///   - failed: is told of errors that are not one connection's own, such as no descriptors left. The acceptor
  ///     is then paused; `resume()` makes it try again.
  package init(
    loop: EventLoop, descriptor: Int32, mayTake: @escaping () -> Bool = { true },
    tookNone: @escaping () -> Void = {}, accepted: @escaping (Int32, SocketAddress) -> Void,
    failed: @escaping (SocketError) -> Void
  ) {
    self.loop = loop
    self.descriptor = descriptor
    self.mayTake = mayTake
    self.tookNone = tookNone
    self.accepted = accepted
    self.failed = failed
    event = LoopEvent(loop: loop, descriptor: descriptor, interest: .read) { [unowned self] in self.accept() }
    event?.enable()
  }

  deinit {
    event?.disable()
    if let event { loop.retire(event) }  // it may be what is calling
    Glibc.close(descriptor)
  }

  package func pause() { event?.disable() }
  package func resume() { event?.enable() }

  private func accept() {
    for _ in 0..<Self.acceptsPerRound where event?.isEnabled == true {
      guard mayTake() else { return }
      var storage = sockaddr_storage()
      var byteCount = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let connection = proofd_accept(descriptor, &storage, &byteCount)
      if connection >= 0 {
        let address = withUnsafePointer(to: &storage) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { SocketAddress(copying: $0, byteCount: byteCount) }
        }
        accepted(connection, address)  // which may have had enough, or let the acceptor go
        continue
      }
      let error = SocketError("accept")
      tookNone()
      switch error.code {
      case EAGAIN: return
      // The connection failed before it was taken, or a firewall refused it (accept(2)).
      case EINTR, ECONNABORTED, EPROTO, EPERM, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, ENONET, EHOSTUNREACH, EOPNOTSUPP,
        ENETUNREACH:
        continue
      default:
        pause()
        failed(error)
        return
      }
    }
  }
}
