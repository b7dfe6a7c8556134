import Glibc

@testable import Simulators

/// A blocking HTTP/1.1 client connection made by hand, so that the simulators are tested by something that is not theirs.
final class TestConnection {
  struct Response: Equatable {
    var status: Int
    var fields: [(name: String, value: String)]
    var body: [UInt8]
    /// Whether the body ended as it should; false if the connection ended before.
    var isComplete = true
    /// What came before the final response.
    var interim: [Int] = []

    func values(_ name: String) -> [String] { fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value) }
    var text: String { String(decoding: body, as: UTF8.self) }
    static func == (a: Response, b: Response) -> Bool { a.status == b.status && a.body == b.body }
  }

  enum Failure: Error { case connect, closed, reset, malformed }

  private let descriptor: Int32
  private var input: [UInt8] = []

  init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
    }
    guard connected == 0 else { throw Failure.connect }
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  func write(_ text: String) throws { try write(Array(text.utf8)) }

  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { throw Failure.closed }
      rest = rest.dropFirst(count)
    }
  }

  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Reads one response to a request with that method.
  func read(method: String = "GET") throws -> Response {
    var interim: [Int] = []
    while true {
      var response = try readHead()
      if response.status < 200 {
        interim.append(response.status)
        continue
      }
      response.interim = interim
      if method == "HEAD" || response.status == 204 || response.status == 304 { return response }
      do { try readBody(&response) } catch Failure.closed { response.isComplete = false }
      return response
    }
  }

  /// Everything until the peer's end.
  func readToEnd() throws -> [UInt8] {
    while try fill() {}
    defer { input = [] }
    return input
  }

  private func readHead() throws -> Response {
    var end: Int?
    while end == nil {
      end = input.indices.dropLast(3).first { input[$0...].starts(with: [13, 10, 13, 10]) }
      if end == nil, try !fill() { throw Failure.closed }
    }
    let count = end ?? 0
    let lines = String(decoding: input[..<count], as: UTF8.self).split(separator: "\r\n")
    input.removeFirst(count + 4)
    guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
      throw Failure.malformed
    }
    let fields = try lines.dropFirst().map { line in
      guard let colon = line.firstRange(of: ": ") else { throw Failure.malformed }
      return (name: String(line[..<colon.lowerBound]), value: String(line[colon.upperBound...]))
    }
    return Response(status: status, fields: fields, body: [])
  }

  private func readBody(_ response: inout Response) throws {
    if let length = response.values("content-length").first.flatMap({ Int($0) }) {
      while input.count < length {
        if try !fill() {
          response.body = take(input.count)
          throw Failure.closed
        }
      }
      response.body = take(length)
    } else if response.values("transfer-encoding") == ["chunked"] {
      while true {
        guard let size = Int(try readLine(), radix: 16) else { throw Failure.malformed }
        while input.count < size + 2 { if try !fill() { throw Failure.closed } }
        if size == 0 { break }
        response.body += take(size)
        _ = take(2)
      }
      while input.starts(with: [13, 10]) == false {
        let trailer = try readLine()
        response.fields.append((name: "trailer", value: trailer))
      }
      _ = take(2)
    } else {
      while try fill() {}
      response.body = take(input.count)
    }
  }

  private func readLine() throws -> String {
    while true {
      if let end = input.indices.dropLast().first(where: { input[$0...].starts(with: [13, 10]) }) {
        let line = String(decoding: take(end), as: UTF8.self)
        _ = take(2)
        return line
      }
      if try !fill() { throw Failure.closed }
    }
  }

  private func take(_ count: Int) -> [UInt8] {
    defer { input.removeFirst(count) }
    return Array(input.prefix(count))
  }

  private func fill() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == ECONNRESET { throw Failure.reset }
    guard count >= 0 else { throw Failure.closed }
    input += buffer.prefix(count)
    return count > 0
  }
}
