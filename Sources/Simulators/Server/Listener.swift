import Glibc
import Locking

/// Accepts connections on 127.0.0.1, each served by a thread of its own.
final class Listener: Sendable {
  /// More than this many at once are turned away unanswered.
  static let connectionsMax = 512
  static let backlog: Int32 = 512

  private struct State {
    var acceptor: WorkerThread?
    var live: [Int: any ByteChannel] = [:]
    var threads: [Int: WorkerThread] = [:]
    /// Connections whose thread is about to end and can be joined.
    var ended: [Int] = []
    var accepted = 0
    var isStopping = false
  }

  let port: UInt16
  private let descriptor: Int32
  private let state = Protected(State())

  /// - Parameters:
  ///   - port: 0 lets the system choose.
  ///   - serve: one connection from its first byte to its last; the channel is closed when it returns.
  /// - Throws: ``SimulatorError/listen(port:_:)``.
  init(
    port: UInt16, serve: @escaping @Sendable (_ channel: any ByteChannel, _ connection: Int) -> Void
  ) throws(SimulatorError) {
    (descriptor, self.port) = try Self.open(port: port)
    do {
      let acceptor = try WorkerThread { [self] in acceptAll(serve) }
      state.withLock { $0.acceptor = acceptor }
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  /// Closes the port and every connection, and returns when all threads have ended. Further calls do nothing.
  func stop() {
    let acceptor = state.withLock { state -> WorkerThread? in
      state.isStopping = true
      defer { state.acceptor = nil }
      return state.acceptor
    }
    guard let acceptor else { return }
    shutdown(descriptor, Int32(SHUT_RDWR))  // makes accept() return
    acceptor.join()
    Glibc.close(descriptor)
    let threads = state.withLock { state in
      for channel in state.live.values { channel.interrupt() }
      defer { state.threads = [:] }
      return Array(state.threads.values)
    }
    for thread in threads { thread.join() }
  }

  private func acceptAll(_ serve: @escaping @Sendable (any ByteChannel, Int) -> Void) {
    while true {
      let accepted = accept(descriptor, nil, nil)
      if state.withLock({ $0.isStopping }) {
        if accepted >= 0 { Glibc.close(accepted) }
        return
      }
      guard accepted >= 0 else {
        // Out of descriptors: the backlog keeps the caller until a connection ends.
        if errno == EMFILE || errno == ENFILE { poll(nil, 0, 10) }
        continue
      }
      _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
      joinEnded()
      start(SocketChannel(owning: accepted), serve)
    }
  }

  private func start(_ channel: SocketChannel, _ serve: @escaping @Sendable (any ByteChannel, Int) -> Void) {
    let number = state.withLock { state -> Int? in
      guard state.live.count < Self.connectionsMax else { return nil }
      state.accepted += 1
      state.live[state.accepted] = channel
      return state.accepted
    }
    guard let number else { return channel.close() }
    // Only this thread joins ended ones, so it can't look for this one before it is registered below.
    let thread = try? WorkerThread { [self] in  // a failure is treated as too many connections are
      serve(channel, number)
      channel.close()
      state.withLock {
        $0.live[number] = nil
        $0.ended.append(number)
      }
    }
    guard let thread else {
      state.withLock { $0.live[number] = nil }
      return channel.close()
    }
    state.withLock { $0.threads[number] = thread }
  }

  private func joinEnded() {
    let ended = state.withLock { state in
      let threads = state.ended.compactMap { state.threads.removeValue(forKey: $0) }
      state.ended.removeAll(keepingCapacity: true)
      return threads
    }
    for thread in ended { thread.join() }
  }

  private static func open(port: UInt16) throws(SimulatorError) -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw .listen(port: port, errno) }
    var on: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listening = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && listen(descriptor, backlog) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard listening else {
      let code = errno
      Glibc.close(descriptor)
      throw .listen(port: port, code)
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }
}
