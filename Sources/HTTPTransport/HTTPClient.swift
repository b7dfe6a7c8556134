package import EventLoop
package import HTTPWire
import Locking

/// Sends control-plane requests (token endpoints, metadata) over the connections of one loop. Any task.
///
/// Redirects are returned, never followed: they would carry secrets elsewhere. Nothing is sent twice.
package final class HTTPClient: HTTPSending {
  /// Larger answers of control-plane servers are refused.
  package static let responseBodyBytesMax = 1 << 20

  private let connections: LoopBound<ClientConnections>
  private let tls: TLSTrust

  /// - Parameters:
  ///   - connections: the loop's; several clients with different trust and certificates share them, but no connection.
  ///   - tls: whom to trust at https origins, and the certificate to show there.
  package init(connections: LoopBound<ClientConnections>, tls: TLSTrust) {
    self.connections = connections
    self.tls = tls
  }

  package func send(_ request: HTTPRequest, timeout: Duration) async throws(HTTPSendFailure) -> HTTPResponse {
    let result: Result<HTTPResponse, HTTPSendFailure> = await withCheckedContinuation { continuation in
      let reply = OneReply(continuation)
      connections.post { [tls] connections in
        connections.begin(request, tls: tls, timeout: timeout) { reply.give($0) }
      }
    }
    return try result.get()
  }
}

/// Resumes its continuation once; as a failure if it is dropped unused, so that no task can hang.
private final class OneReply: Sendable {
  private let continuation: Protected<CheckedContinuation<Result<HTTPResponse, HTTPSendFailure>, Never>?>

  init(_ continuation: CheckedContinuation<Result<HTTPResponse, HTTPSendFailure>, Never>) {
    self.continuation = Protected(continuation)
  }

  deinit { give(.failure(.closed)) }

  func give(_ result: Result<HTTPResponse, HTTPSendFailure>) {
    let waiting = continuation.withLock { continuation in
      defer { continuation = nil }
      return continuation
    }
    waiting?.resume(returning: result)
  }
}

/// The control loop's upstream connections and the exchanges under way on them. Loop-bound.
package final class ClientConnections: LoopResident {
  private struct Key: Hashable {
    let origin: Origin
    /// Kept, so that no other trust can take its identity. It stands for the client's certificate, too.
    let tls: TLSTrust

    static func == (one: Key, other: Key) -> Bool { one.origin == other.origin && one.tls === other.tls }

    func hash(into hasher: inout Hasher) {
      hasher.combine(origin)
      hasher.combine(ObjectIdentifier(tls))
    }
  }

  package let loop: EventLoop
  private let scratch: LoopScratch
  private let resolver: Resolver
  private var endpoints: [Key: UpstreamEndpoint] = [:]
  fileprivate var exchanges: [ObjectIdentifier: ClientExchange] = [:]
  private var isClosed = false

  package init(loop: EventLoop, scratch: LoopScratch, resolver: Resolver) {
    self.loop = loop
    self.scratch = scratch
    self.resolver = resolver
  }

  fileprivate func begin(
    _ request: HTTPRequest, tls: TLSTrust, timeout: Duration,
    reply: @escaping (Result<HTTPResponse, HTTPSendFailure>) -> Void
  ) {
    // Whoever was told that its exchange ended may try another one.
    if isClosed { return reply(.failure(.closed)) }
    guard request.isWritable else {
      return reply(.failure(.protocolViolation("A line of the request's head has a line break in it.")))
    }
    let key = Key(origin: request.url.origin, tls: tls)
    let endpoint: UpstreamEndpoint
    if let known = endpoints[key] {
      endpoint = known
    } else {
      let context: TLSContext?
      do throws(TLSConfigurationError) {
        context = request.url.origin.scheme == .https ? try tls.context() : nil
      } catch {
        return reply(.failure(.tls(error.description)))
      }
      var limits = UpstreamLimits()
      limits.idleMax = 2
      // Token endpoints close idle connections early, and a token request is not repeated blindly.
      limits.idleNanoseconds = 2_000_000_000
      endpoint = UpstreamEndpoint(
        loop: loop, address: .origin(request.url.origin), tls: context, serverName: nil, scratch: scratch,
        resolver: resolver, limits: limits)
      endpoints[key] = endpoint
    }
    let exchange = ClientExchange(request, connections: self, reply: reply)
    exchanges[ObjectIdentifier(exchange)] = exchange
    exchange.start(on: endpoint, timeout: timeout)
  }

  /// Ends what is under way and closes everything, for good.
  package func close() {
    isClosed = true
    for exchange in exchanges.values { exchange.fail(.closed) }
    for endpoint in endpoints.values { endpoint.closeIdle() }
  }

  package func loopEnds() { close() }
}

extension HTTPRequest {
  /// Whether no part of the head would end its line and begin another (RFC 9112 §11.1).
  fileprivate var isWritable: Bool {
    ([method] + fields.flatMap { [$0.name, $0.value] }).allSatisfy { part in
      part.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    }
  }
}

/// One control-plane request and its collected response.
private final class ClientExchange: UpstreamStreamDelegate, DeadlineTarget {
  private let request: HTTPRequest
  private unowned let connections: ClientConnections
  private var reply: ((Result<HTTPResponse, HTTPSendFailure>) -> Void)?
  private var stream: (any UpstreamStream)?
  private let deadline: Deadline
  private var status = 0
  private var fields: [HTTPField] = []
  private var body: [UInt8] = []

  init(
    _ request: HTTPRequest, connections: ClientConnections,
    reply: @escaping (Result<HTTPResponse, HTTPSendFailure>) -> Void
  ) {
    self.request = request
    self.connections = connections
    self.reply = reply
    deadline = Deadline(on: connections.loop)
    deadline.bind(to: self)
  }

  func start(on endpoint: UpstreamEndpoint, timeout: Duration) {
    deadline.set(after: UInt64(max(0, timeout.nanoseconds)))
    let stream = endpoint.openStream(fresh: false, canResend: false, delegate: self)
    self.stream = stream
    if stream.isReady { streamReady(stream) }
  }

  func streamReady(_ stream: any UpstreamStream) {
    let body = request.body ?? []
    body.withUnsafeBytes { bytes in
      stream.send(methodIsHEAD: request.method == "HEAD", body: bytes) { output in
        output.append(request.method)
        output.append(byte: 0x20)
        output.append(request.url.path)
        if let query = request.url.query {
          output.append(byte: UInt8(ascii: "?"))
          output.append(query)
        }
        output.append(" HTTP/1.1\r\nHost: ")
        output.append(request.url.authority)
        output.append("\r\nUser-Agent: proofd\r\n")
        for field in request.fields {
          output.append(field.name)
          output.append(": ")
          output.append(field.value)
          output.append("\r\n")
        }
        if request.body != nil {
          output.append("Content-Length: ")
          output.append(decimal: UInt64(bytes.count))
          output.append("\r\n")
        }
        output.append("\r\n")
      }
    }
    stream.finishSending()
  }

  func stream(_ stream: any UpstreamStream, receivedInformational status: UInt16) {}

  func stream(
    _ stream: any UpstreamStream, received head: ResponseHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable
  ) {
    status = Int(head.status)
    for index in 0..<fields.count {
      self.fields.append(
        HTTPField(
          name: String(decoding: bytes[fields[index].name], as: UTF8.self),
          value: String(decoding: bytes[fields[index].value], as: UTF8.self)))
    }
  }

  func stream(_ stream: any UpstreamStream, receivedBody bytes: UnsafeRawBufferPointer) {
    guard body.count + bytes.count <= HTTPClient.responseBodyBytesMax else { return fail(.tooLarge) }
    body.append(contentsOf: bytes)
  }

  func stream(_ stream: any UpstreamStream, receivedTrailers bytes: UnsafeRawBufferPointer, fields: FieldTable) {}
  func streamDrained(_ stream: any UpstreamStream) {}

  func streamReceivedEnd(_ stream: any UpstreamStream) {
    self.stream = nil
    finish(.success(HTTPResponse(status: status, fields: fields, body: body)))
  }

  func streamFailed(_ stream: any UpstreamStream, _ failure: UpstreamFailure) {
    self.stream = nil
    switch failure {
    case .unreachable(let reason): finish(.failure(.unreachable(reason)))
    case .outOfDescriptors: finish(.failure(.unreachable("no file descriptor left")))
    case .tls(let reason): finish(.failure(.tls(reason)))
    case .connectTimeout: finish(.failure(.unreachable("no connection in time")))
    case .responseTimeout: finish(.failure(.timeout))
    case .closed: finish(.failure(.closed))
    case .violation(let violation): finish(.failure(.protocolViolation("\(violation.detail)")))
    }
  }

  func deadlinePassed(_ deadline: Deadline) { fail(.timeout) }

  func fail(_ failure: HTTPSendFailure) {
    stream?.cancel()
    stream = nil
    finish(.failure(failure))
  }

  private func finish(_ result: Result<HTTPResponse, HTTPSendFailure>) {
    guard let reply else { return }
    self.reply = nil
    deadline.remove()
    connections.loop.retire(self)
    connections.exchanges[ObjectIdentifier(self)] = nil
    reply(result)
  }
}
