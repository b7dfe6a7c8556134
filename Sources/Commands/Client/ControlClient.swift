import Configuration
import Console
import Glibc
import HTTPTransport
import HTTPWire

/// Asks the running daemon over its control socket, blocking; one request a connection.
struct ControlClient {
  private static let limits = HeadLimits()
  private static let answerBytesMax = 16 << 20

  private let path: String

  /// - Throws: a usage failure when the socket's place cannot be told.
  init(_ arguments: Arguments, _ invocation: Invocation) throws(CommandFailure) {
    if let path = ControlSocketPath.inRuntimeDirectory(environment: invocation.environment) {
      self.path = path
    } else {
      let configuration = try ConfigurationFile.load(arguments, invocation)
      path = ControlSocketPath.path(
        environment: invocation.environment, stateDirectory: configuration.stateDirectory)
    }
  }

  /// The body of a 200 answer.
  func get(_ target: String) throws(CommandFailure) -> [UInt8] {
    var body: [UInt8] = []
    try stream(target) { body.append(contentsOf: $0.prefix(Self.answerBytesMax - body.count)) }
    return body
  }

  /// Hands over body bytes as they come, until the answer ends.
  func stream(_ target: String, _ body: (UnsafeRawBufferPointer) -> Void) throws(CommandFailure) {
    let descriptor = try connect()
    defer { close(descriptor) }
    let request = Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".utf8)
    guard write(descriptor, request, request.count) == request.count else { throw unreachable(errno) }
    var received = ByteBuffer()
    var reader = try readHead(descriptor, &received)
    var ended = false
    while !ended {
      let used = received.withUnsafeBytes { bytes -> Int? in
        var offset = 0
        while true {
          switch reader.next(bytes.slice(offset..<bytes.count)) {
          case .payload(let range, let consumed):
            body(bytes.slice(offset + range.lowerBound..<offset + range.upperBound))
            offset += consumed
          case .needMore(let consumed): return offset + consumed
          case .end(let consumed):
            ended = true
            return offset + consumed
          case .violation: return nil
          }
        }
      }
      guard let used else { throw CommandFailure(exitCode: .failed, message: "the daemon's answer cannot be read") }
      received.consume(used)
      if !ended, !receive(descriptor, &received) { return }
    }
  }

  private func connect() throws(CommandFailure) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw unreachable(ENAMETOOLONG) }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw unreachable(errno) }
    let failed = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) != 0
      }
    }
    if failed {
      let code = errno
      close(descriptor)
      throw unreachable(code)
    }
    return descriptor
  }

  private func unreachable(_ code: Int32) -> CommandFailure {
    CommandFailure(
      exitCode: .daemonUnreachable, message: "no daemon answers at \(path): \(String(cString: strerror(code)))",
      hint: "start one with proofd serve")
  }

  /// - Returns: whether something came.
  private func receive(_ descriptor: Int32, _ buffer: inout ByteBuffer) -> Bool {
    let room = buffer.reserve(16_384)
    while true {
      let count = read(descriptor, room.baseAddress, room.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      buffer.commit(count)
      return true
    }
  }

  private func readHead(_ descriptor: Int32, _ received: inout ByteBuffer) throws(CommandFailure) -> BodyReader {
    let fields = FieldTable(capacity: Self.limits.fieldCountMax)
    var scanned = 0
    while true {
      if case .end(let headBytes) = received.withUnsafeBytes({ HeadBoundary.find($0, scanned: &scanned) }) {
        let head = received.withUnsafeBytes {
          ResponseHead.parse(
            $0.slice(0..<headBytes), limits: Self.limits, fields: fields, requestMethodIsHEAD: false)
        }
        guard case .success(let parsed) = head else { break }
        guard parsed.status == 200 else {
          throw CommandFailure(
            exitCode: parsed.status == 401 ? .daemonUnreachable : .failed,
            message: "the daemon refuses: status \(parsed.status)")
        }
        received.consume(headBytes)
        return BodyReader(parsed.framing)
      }
      guard received.count <= Self.limits.headBytesMax, receive(descriptor, &received) else { break }
    }
    throw CommandFailure(exitCode: .failed, message: "the daemon's answer cannot be read")
  }
}
