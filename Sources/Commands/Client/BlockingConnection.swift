import EventLoop
import Glibc
import HTTPTransport
import HTTPWire

/// One HTTP/1.1 exchange over a UNIX socket, for a process that has nothing else to do.
struct BlockingConnection: ~Copyable {
  /// Nobody listens, or not for us, or nobody takes the connection.
  struct Refused: Error {
    let reason: String
    let isSilence: Bool
    init(_ code: Int32) {
      isSilence = code == EAGAIN
      reason = isSilence ? "it takes no more connections" : String(cString: strerror(code))
    }
  }

  private static let limits = HeadLimits()
  private static let receiveBytes = 16_384

  private let descriptor: Int32
  private var received = ByteBuffer()
  private let limit: Duration
  /// `CLOCK_MONOTONIC` nanoseconds until when bytes are waited for; nil is for ever.
  private var deadline: UInt64?

  /// - Parameter limit: for connecting, and then for all that comes until ``waitForever()``.
  init(path: String, limit: Duration) throws(Refused) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Refused(ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Refused(errno) }
    // Connecting waits while the daemon's queue is full, as long as sending may. unix(7), socket(7)
    var patience = timeval(limit)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard result == 0 else {
      let code = errno
      close(descriptor)
      throw Refused(code)
    }
    self.descriptor = descriptor
    self.limit = limit
    deadline = SystemTime.monotonicNanoseconds + UInt64(max(0, limit.nanoseconds))
  }

  /// From now on bytes may come whenever they come.
  mutating func waitForever() { deadline = nil }

  deinit { close(descriptor) }

  func send(_ bytes: [UInt8]) throws(CommandFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        throw silence
      } else if errno != EINTR {
        throw CommandFailure(exitCode: .daemonUnreachable, message: "the daemon closed the connection")
      }
    }
  }

  /// - Returns: nil when the connection ended before.
  /// - Throws: a failure when what came is no response.
  mutating func receiveHead() throws(CommandFailure) -> ResponseHead? {
    let fields = FieldTable(capacity: Self.limits.fieldCountMax)
    var scanned = 0
    while true {
      switch received.withUnsafeBytes({ HeadBoundary.find($0, scanned: &scanned) }) {
      case .end(let headBytes):
        let parsed = received.withUnsafeBytes {
          ResponseHead.parse($0.slice(0..<headBytes), limits: Self.limits, fields: fields, requestMethodIsHEAD: false)
        }
        received.consume(headBytes)
        switch parsed {
        case .success(let head): return head
        case .failure(let violation): throw ControlClient.unreadable("\(violation.detail)")
        }
      case .violation(let violation): throw ControlClient.unreadable("\(violation.detail)")
      case .incomplete:
        guard received.count <= Self.limits.headBytesMax else {
          throw ControlClient.unreadable("its head is too large")
        }
        guard try receive() else { return nil }
      }
    }
  }

  /// - Returns: whether the body came to its proper end.
  /// - Throws: a failure when its framing is broken, or what `body` throws.
  mutating func receiveBody(
    _ head: ResponseHead, _ body: (UnsafeRawBufferPointer) throws(CommandFailure) -> Void
  ) throws(CommandFailure) -> Bool {
    var reader = BodyReader(head.framing)
    while true {
      let piece = received.copy()
      var used = 0
      while true {
        let step = piece.withUnsafeBytes { reader.next($0.slice(used..<$0.count)) }
        switch step {
        case .payload(let range, let consumed):
          let payload = piece[(used + range.lowerBound)..<(used + range.upperBound)]
          try Self.lend(payload, to: body)
          used += consumed
          continue
        case .trailer(_, let consumed):
          used += consumed
          continue
        case .needMore(let consumed): used += consumed
        case .end: return true
        case .violation(let violation): throw ControlClient.unreadable("\(violation.detail)")
        }
        break
      }
      received.consume(used)
      guard try receive() else { return reader.endsWithConnection }
    }
  }

  /// `withUnsafeBytes` cannot pass a typed error on.
  private static func lend(
    _ bytes: ArraySlice<UInt8>, to body: (UnsafeRawBufferPointer) throws(CommandFailure) -> Void
  ) throws(CommandFailure) {
    let outcome: Result<Void, CommandFailure> = bytes.withUnsafeBytes { bytes in
      do throws(CommandFailure) {
        try body(bytes)
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try outcome.get()
  }

  /// - Returns: whether something came, else the connection has ended.
  /// - Throws: a failure when nothing came in time.
  private mutating func receive() throws(CommandFailure) -> Bool {
    while true {
      guard hasSomething() else { throw silence }
      let room = received.reserve(Self.receiveBytes)
      let count = recv(descriptor, room.baseAddress, room.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      received.commit(count)
      return true
    }
  }

  /// Waits for bytes or the end. - Returns: whether there is one of them in time.
  private func hasSomething() -> Bool {
    guard let deadline else { return true }
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while true {
      let now = SystemTime.monotonicNanoseconds
      let milliseconds = deadline > now ? Int32(clamping: (deadline - now) / 1_000_000 + 1) : 0
      let count = poll(&request, 1, milliseconds)
      if count != 0, !(count < 0 && errno == EINTR) { return true }
      if count == 0, SystemTime.monotonicNanoseconds >= deadline { return false }
    }
  }

  private var silence: CommandFailure { Self.silence(limit) }

  /// What is said of a daemon that is there and does not answer.
  static func silence(_ limit: Duration) -> CommandFailure {
    CommandFailure(
      exitCode: .daemonUnreachable, message: "the daemon does not answer within \(limit.formattedSeconds)",
      hint: "it may be stopped or busy: look at its process, continue it or start it anew")
  }
}

extension timeval {
  fileprivate init(_ duration: Duration) {
    let microseconds = max(1, duration.nanoseconds / 1_000)
    self.init(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
  }
}

extension Duration {
  /// `10 s`
  fileprivate var formattedSeconds: String { "\(nanoseconds / 1_000_000_000) s" }
}
