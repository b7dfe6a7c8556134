import EventLoop
import Glibc
import HTTPTransport
import HTTPWire
import LoopbackPeers
import Testing

/// The client of the control plane, against a server that answers by script on a thread of its own.
struct HTTPClientTests {
  private static let never: Duration = .seconds(600)

  /// Answers each request on each connection with what `answer` makes of its text; nil closes.
  private final class Server: Sendable {
    let url: String
    private let descriptor: Int32
    private let thread: NamedThread

    init(answer: @escaping @Sendable (String) -> String?) throws {
      let address = try #require(SocketAddress(numericHost: "127.0.0.1", port: 0))
      let group = try ListenerGroup(binding: address, count: 1)
      let descriptor = group.descriptors[0]
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL, 0) & ~O_NONBLOCK)
      self.descriptor = descriptor
      url = "http://\(group.address)"
      thread = NamedThread(name: "server") {
        while true {
          let connection = accept(descriptor, nil, nil)
          guard connection >= 0 else { return }
          _ = NamedThread(name: "connection") { Self.serve(connection, answer) }
        }
      }
    }

    deinit {
      shutdown(descriptor, Int32(SHUT_RDWR))
      thread.join()
      close(descriptor)
    }

    private static func serve(_ connection: Int32, _ answer: (String) -> String?) {
      defer { close(connection) }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      var text = ""
      while true {
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return }
        text += String(decoding: buffer[..<count], as: UTF8.self)
        // The one request with a body is over when its body is.
        let isPosted = text.hasPrefix("POST ")
        guard text.hasSuffix(isPosted ? "\r\n\r\nbody" : "\r\n\r\n") else { continue }
        guard let answer = answer(text) else { return }
        let bytes = Array(answer.utf8)
        var sent = 0
        while sent < bytes.count {
          let count = bytes.withUnsafeBytes {
            send(connection, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
          }
          guard count > 0 else { return }
          sent += count
        }
        text = ""
      }
    }
  }

  /// A loop with connections on a thread of its own.
  private final class Loop: Sendable {
    let thread: LoopThread
    let client: HTTPClient

    init() throws {
      let box = Notes<LoopBound<ClientConnections>>()
      thread = LoopThread(name: "client") { loop in
        let connections = ClientConnections(
          loop: loop, scratch: LoopScratch(limits: HeadLimits()), resolver: Resolver())
        loop.keep(connections)
        box.add(LoopBound(connections, on: loop))
      }
      let tls = TLSTrust(.file(TestCertificates.shared.authority))
      client = HTTPClient(connections: try #require(box.all.first), tls: tls)
    }

    func end() {
      thread.stop()
      thread.join()
    }
  }

  private func failure(_ loop: Loop, _ request: HTTPRequest, timeout: Duration = never) async -> HTTPSendFailure? {
    do {
      _ = try await loop.client.send(request, timeout: timeout)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a request goes out as it is and its response comes back whole`() async throws {
    let seen = Notes<String>()
    let server = try Server {
      seen.add($0)
      return "HTTP/1.1 200 OK\r\nX: 1\r\nX: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
    }
    let loop = try Loop()
    let url = try HTTPURL(parsing: "\(server.url)/token?a=b")
    let response = try await loop.client.send(
      HTTPRequest(method: "POST", url: url, fields: [HTTPField(name: "A", value: "b")], body: Array("body".utf8)),
      timeout: Self.never)
    #expect(response.status == 200)
    #expect(response.values(of: "x") == ["1", "2"])
    #expect(response.body == Array("abc".utf8))
    #expect(
      seen.all == [
        "POST /token?a=b HTTP/1.1\r\nHost: \(url.authority)\r\nUser-Agent: proofd\r\nA: b\r\nContent-Length: 4\r\n\r\nbody"
      ])
    loop.end()
  }

  @Test func `a redirect is returned, not followed`() async throws {
    let count = Notes<String>()
    let server = try Server {
      count.add($0)
      return "HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
    }
    let loop = try Loop()
    let response = try await loop.client.send(
      HTTPRequest(method: "GET", url: HTTPURL(parsing: server.url)), timeout: Self.never)
    #expect(response.status == 302)
    #expect(response.onlyValue(of: "location") == "/elsewhere")
    #expect(count.count == 1)
    loop.end()
  }

  @Test func `many tasks send at once and each gets its own answer`() async throws {
    let server = try Server { text in
      let path = text.split(separator: " ")[1]
      return "HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)"
    }
    let loop = try Loop()
    let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for number in 0..<100 {
        group.addTask {
          let url = try HTTPURL(parsing: "\(server.url)/\(number)")
          let response = try await loop.client.send(HTTPRequest(method: "GET", url: url), timeout: Self.never)
          return (number, String(decoding: response.body, as: UTF8.self))
        }
      }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    #expect(answers == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, "/\($0)") }))
    loop.end()
  }

  @Test func `a response that is too large, late, cut off or not HTTP is a failure of its kind`() async throws {
    let large = HTTPClient.responseBodyBytesMax + 1
    let answers: [String: String?] = [
      "/large": "HTTP/1.1 200 OK\r\nContent-Length: \(large)\r\n\r\n" + String(repeating: "x", count: large),
      "/late": "HTTP/1.1 200 OK\r\n", "/cut": nil, "/noise": "SSH-2.0-x\r\n\r\n",
    ]
    let server = try Server { answers[String($0.split(separator: " ")[1])] ?? nil }
    let loop = try Loop()
    func outcome(_ path: String, timeout: Duration = HTTPClientTests.never) async throws -> HTTPSendFailure? {
      await failure(loop, HTTPRequest(method: "GET", url: try HTTPURL(parsing: server.url + path)), timeout: timeout)
    }
    #expect(try await outcome("/large") == .tooLarge)
    #expect(try await outcome("/late", timeout: .milliseconds(50)) == .timeout)
    #expect(try await outcome("/cut") == .closed)
    guard case .protocolViolation = try await outcome("/noise") else {
      Issue.record("noise was taken for HTTP")
      return
    }
    loop.end()
  }

  @Test func `a line break in a field is not sent`() async throws {
    let seen = Notes<String>()
    let server = try Server {
      seen.add($0)
      return "HTTP/1.1 204 No Content\r\n\r\n"
    }
    let loop = try Loop()
    let fields = [HTTPField(name: "A", value: "b\r\nAuthorization: c")]
    let outcome = await failure(
      loop, HTTPRequest(method: "GET", url: try HTTPURL(parsing: server.url), fields: fields))
    guard case .protocolViolation = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(seen.count == 0)
    loop.end()
  }

  @Test func `a loop that ends lets no task wait`() async throws {
    let arrived = Notes<String>()
    let server = try Server {
      arrived.add($0)
      return "HTTP/1.1 100 Continue\r\n\r\n"
    }
    let loop = try Loop()
    let url = try HTTPURL(parsing: server.url)
    let waiting = Task { await failure(loop, HTTPRequest(method: "GET", url: url)) }
    while arrived.count == 0 { await Task.yield() }
    loop.end()
    #expect(await waiting.value == .closed)
    // And whoever comes later.
    #expect(await failure(loop, HTTPRequest(method: "GET", url: url)) == .closed)
  }
}
