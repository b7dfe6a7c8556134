import Glibc

/// A blocking client of a UNIX socket, made by hand, so that the server is tested by something that is not ours.
final class SocketClient {
  enum Failure: Error { case connect(Int32), closed, timeout, malformed(String) }

  struct Answer {
    let status: Int
    /// Names in lower case.
    let fields: [String: String]
    let body: String
  }

  let descriptor: Int32
  private var input: [UInt8] = []

  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
    let size = socklen_t(MemoryLayout<sockaddr_un>.size)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard result == 0 else { throw Failure.connect(errno) }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func send(_ text: String) throws {
    let bytes = Array(text.utf8)
    guard Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count else { throw Failure.closed }
  }

  /// Sends a request without content and reads the answer.
  func request(_ method: String = "GET", _ target: String, _ fields: [String] = []) throws -> Answer {
    try send(([method + " " + target + " HTTP/1.1", "Host: proofd"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
    return try answer(headOnly: method == "HEAD")
  }

  /// Sends a request with JSON content and reads the answer.
  func request(
    _ method: String, _ target: String, content: String, type: String = "application/json"
  ) throws -> Answer {
    try send(
      "\(method) \(target) HTTP/1.1\r\nHost: proofd\r\nContent-Type: \(type)\r\n"
        + "Content-Length: \(content.utf8.count)\r\n\r\n\(content)")
    return try answer()
  }

  func answer(headOnly: Bool = false) throws -> Answer {
    let (status, fields) = try head()
    if status == 204 { return Answer(status: status, fields: fields, body: "") }
    guard let length = fields["content-length"].flatMap({ Int($0) }) else { throw Failure.malformed("no length") }
    return Answer(
      status: status, fields: fields, body: headOnly ? "" : String(decoding: try take(length), as: UTF8.self))
  }

  func head() throws -> (status: Int, fields: [String: String]) {
    let start = try line().split(separator: " ")
    guard start.count >= 2, start[0] == "HTTP/1.1", let status = Int(start[1]) else {
      throw Failure.malformed("\(start)")
    }
    var fields: [String: String] = [:]
    while true {
      let line = try line()
      guard !line.isEmpty else { return (status, fields) }
      guard let colon = line.firstRange(of: ": ") else { throw Failure.malformed(line) }
      fields[line[..<colon.lowerBound].lowercased()] = String(line[colon.upperBound...])
    }
  }

  /// The content of the next chunk; empty for the last one.
  func chunk() throws -> String {
    guard let size = Int(try line(), radix: 16) else { throw Failure.malformed("chunk size") }
    let content = String(decoding: try take(size), as: UTF8.self)
    guard try line().isEmpty else { throw Failure.malformed("chunk end") }
    return content
  }

  /// Whether the server has closed, and sent nothing more.
  func isAtEnd() throws -> Bool { try input.isEmpty && !fill() }

  private func line() throws -> String {
    while true {
      if let end = input.firstIndex(of: 10) {
        guard end > 0, input[end - 1] == 13 else { throw Failure.malformed("bare line feed") }
        let line = String(decoding: input[..<(end - 1)], as: UTF8.self)
        input.removeFirst(end + 1)
        return line
      }
      guard try fill() else { throw Failure.closed }
    }
  }

  private func take(_ count: Int) throws -> [UInt8] {
    while input.count < count { guard try fill() else { throw Failure.closed } }
    defer { input.removeFirst(count) }
    return Array(input.prefix(count))
  }

  private func fill() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw errno == EAGAIN ? Failure.timeout : Failure.closed }
    input += buffer.prefix(count)
    return count > 0
  }
}
