import Glibc
import HTTPTransport
import HTTPWire

/// One HTTP/1.1 exchange over a UNIX socket, for a process that has nothing else to do.
struct BlockingConnection: ~Copyable {
  /// Nobody listens, or not for us.
  struct Refused: Error {
    let reason: String
    init(_ code: Int32) { reason = String(cString: strerror(code)) }
  }

  private static let limits = HeadLimits()
  private static let receiveBytes = 16_384

  private let descriptor: Int32
  private var received = ByteBuffer()

  init(path: String) throws(Refused) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Refused(ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Refused(errno) }
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
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws(CommandFailure) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count > 0 {
        rest = rest.dropFirst(count)
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
        guard receive() else { return nil }
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
      guard receive() else { return reader.endsWithConnection }
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

  /// - Returns: whether something came.
  private mutating func receive() -> Bool {
    while true {
      let room = received.reserve(Self.receiveBytes)
      let count = recv(descriptor, room.baseAddress, room.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      received.commit(count)
      return true
    }
  }
}
