import Glibc
import HTTPWire

/// A client of the gateway that is written by hand, byte by byte if need be, and repairs nothing. One thread and one connection.
actor WireClient {
  nonisolated private let executor = ThreadExecutor()
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  nonisolated let port: UInt16
  private var socket: ClientSocket?
  private var input: [UInt8] = []

  init(port: UInt16) throws {
    self.port = port
    socket = try ClientSocket(port: port)
  }

  deinit { executor.shutdown() }

  // MARK: Whole exchanges

  /// Sends a request and reads its response.
  func call(
    _ method: String = "GET", _ target: String, _ fields: [String] = [], body: [UInt8]? = nil
  ) throws -> WireResponse {
    try send(head(method, target, fields, bodyBytes: body?.count))
    if let body { try offer(body) }
    return try read(method)
  }

  /// So many requests, one after the other.
  func call(times: Int, _ target: String) throws -> [WireResponse] {
    try (0..<times).map { _ in try call("GET", target) }
  }

  nonisolated func head(
    _ method: String, _ target: String, _ fields: [String] = [], bodyBytes: Int? = nil, host: String? = nil
  ) -> String {
    var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")"] + fields
    if let bodyBytes { lines.append("Content-Length: \(bodyBytes)") }
    return lines.joined(separator: "\r\n") + "\r\n\r\n"
  }

  // MARK: Pieces of exchanges

  /// Sends a body as long as it is wanted: whoever is refused in the middle finds the answer on the connection.
  private func offer(_ body: [UInt8]) throws {
    do { try send(bytes: body) } catch WireFailure.reset {}
  }

  func send(_ text: String) throws { try send(bytes: Array(text.utf8)) }

  func send(bytes: [UInt8]) throws {
    do { try bytes.withUnsafeBytes { try socket?.write($0) } } catch { throw Self.failure(error) }
  }

  /// One segment a byte.
  func sendByteByByte(_ text: String) throws { for byte in text.utf8 { try send(bytes: [byte]) } }

  /// Ends the sending direction only.
  func finishSending() { socket?.finishSending() }

  /// Leaves with a FIN.
  func leave() { socket = nil }

  /// Leaves with an RST.
  func reset() {
    socket?.resetWhenClosed()
    socket = nil
  }

  // MARK: Reading

  /// Reads one response to a request with that method.
  func read(_ method: String = "GET") throws -> WireResponse {
    var interim: [Int] = []
    while true {
      var response = try readHead()
      if response.status < 200 {
        interim.append(response.status)
        continue
      }
      response.interim = interim
      if method != "HEAD", response.status != 204, response.status != 304 { try readBody(&response) }
      return response
    }
  }

  /// Reads exactly one response head, an interim one too, and no body.
  func readHead() throws -> WireResponse {
    while true {
      if let end = input.firstIndex(of: [13, 10, 13, 10]) {
        let head = String(decoding: take(end + 4), as: UTF8.self)
        return try Self.parse(head)
      }
      guard try fill() else { throw input.isEmpty ? WireFailure.closed : .truncated }
    }
  }

  /// Waits for this many bytes.
  func read(bytes count: Int) throws -> [UInt8] {
    while input.count < count { guard try fill() else { throw WireFailure.truncated } }
    return take(count)
  }

  /// Everything up to the gateway's orderly end.
  func readToEnd() throws -> [UInt8] {
    while try fill() {}
    return take(input.count)
  }

  /// Whether the gateway ends the connection, in order, without another byte.
  func isClosed() throws -> Bool { try readToEnd().isEmpty }

  private static func parse(_ head: String) throws -> WireResponse {
    let lines = head.split(separator: "\r\n", omittingEmptySubsequences: true)
    guard let line = lines.first, line.hasPrefix("HTTP/1.1 "), let status = Int(line.dropFirst(9).prefix(3)) else {
      throw WireFailure.malformed
    }
    let fields = try lines.dropFirst().map { line in
      guard let colon = line.firstIndex(of: ":"), line[colon...].hasPrefix(": ") else { throw WireFailure.malformed }
      return HTTPField(name: String(line[..<colon]), value: String(line[colon...].dropFirst(2)))
    }
    return WireResponse(status: status, fields: fields, head: head)
  }

  private func readBody(_ response: inout WireResponse) throws {
    let lengths = response.values(of: "content-length")
    if response.values(of: "transfer-encoding") == ["chunked"] {
      guard lengths.isEmpty else { throw WireFailure.malformed }
      try readChunks(&response)
    } else if !lengths.isEmpty {
      guard lengths.count == 1, let length = Int(lengths[0]) else { throw WireFailure.malformed }
      response.body = try read(bytes: length)
    } else {
      response.body = try readToEnd()
    }
  }

  private func readChunks(_ response: inout WireResponse) throws {
    while true {
      guard let size = Int(try readLine(), radix: 16) else { throw WireFailure.malformed }
      if size == 0 { break }
      response.body += try read(bytes: size)
      guard try read(bytes: 2) == [13, 10] else { throw WireFailure.malformed }
    }
    while true {
      let line = try readLine()
      if line.isEmpty { return }
      response.trailers.append(line)
    }
  }

  private func readLine() throws -> String {
    while true {
      if let end = input.firstIndex(of: [13, 10]) {
        return String(decoding: take(end + 2).dropLast(2), as: UTF8.self)
      }
      guard try fill() else { throw WireFailure.truncated }
    }
  }

  private func take(_ count: Int) -> [UInt8] {
    defer { input.removeFirst(count) }
    return Array(input.prefix(count))
  }

  /// - Returns: false at the gateway's orderly end.
  private func fill() throws -> Bool {
    guard socket != nil else { throw WireFailure.closed }
    var count = 0
    let piece = try [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, filled in
      do { count = try socket?.read(into: UnsafeMutableRawBufferPointer(buffer)) ?? 0 } catch {
        throw Self.failure(error)
      }
      filled = count
    }
    input += piece
    return count > 0
  }

  private static func failure(_ error: any Error) -> WireFailure {
    switch error as? ClientSocket.Failure {
    case .reset: .reset
    case .timedOut: .timedOut
    default: .malformed
    }
  }
}

extension [UInt8] {
  /// Where `pattern` begins for the first time.
  fileprivate func firstIndex(of pattern: [UInt8]) -> Int? {
    withUnsafeBufferPointer { all in
      pattern.withUnsafeBufferPointer { pattern in
        var at = 0
        while at + pattern.count <= all.count {
          if all[at] == pattern[0], all[at..<at + pattern.count].elementsEqual(pattern) { return at }
          at += 1
        }
        return nil
      }
    }
  }
}
