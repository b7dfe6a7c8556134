package import EventLoop
package import HTTPWire

/// Limits on one loop's connections to one endpoint.
package struct UpstreamLimits: Sendable {
  /// Idle connections kept for later requests.
  package var idleMax = 64
  /// How long an idle connection is kept; below what common servers allow (nginx 75 s, node 5 s is seen by its FIN).
  package var idleNanoseconds: UInt64 = 55_000_000_000
  package var connectNanoseconds: UInt64 = 10_000_000_000
  /// Without the upstream taking any byte of a request that is ready to go.
  package var sendNanoseconds: UInt64 = 60_000_000_000
  /// From the request's end to the response head.
  package var responseHeadNanoseconds: UInt64 = 300_000_000_000
  /// Between two reads of a response's body, while it is being read. Nil: a live stream may be silent for as long as
  /// it likes.
  package var responseBodyNanoseconds: UInt64?
  /// How long resolved addresses are used again.
  package var addressNanoseconds: UInt64 = 10_000_000_000

  package init() {}
}

/// Where an endpoint's connections go.
package enum UpstreamAddress: Sendable, Hashable {
  case origin(Origin)
  /// A UNIX-domain socket; the origin is what its HTTP messages name.
  case unix(path: String)
}

/// One loop's connections to one upstream: same address, same TLS identity.
package final class UpstreamEndpoint {
  package let loop: EventLoop
  package let address: UpstreamAddress
  let limits: UpstreamLimits
  let scratch: LoopScratch
  let resolver: Resolver
  private let tls: TLSContext?
  private let serverName: String
  /// For this endpoint's name and trust alone.
  private let sessions = TLSSessionStore()
  private var idle: [UpstreamConnection] = []
  private var open: [ObjectIdentifier: UpstreamConnection] = [:]
  private var known: [SocketAddress] = []
  private var knownUntil: UInt64 = 0
  /// Who waits for the one lookup under way.
  private var waiting: [(Result<[SocketAddress], Resolver.Failure>) -> Void] = []
  private var isClosing = false

  /// - Parameters:
  ///   - tls: required for https origins.
  ///   - serverName: what the certificate must be for; the origin's host when nil.
  package init(
    loop: EventLoop, address: UpstreamAddress, tls: TLSContext?, serverName: String?, scratch: LoopScratch,
    resolver: Resolver, limits: UpstreamLimits
  ) {
    self.loop = loop
    self.address = address
    self.scratch = scratch
    self.resolver = resolver
    self.limits = limits
    switch address {
    case .origin(let origin):
      precondition(origin.scheme == .http || tls != nil, "an https origin without a TLS context")
      self.tls = origin.scheme == .https ? tls : nil
      self.serverName = serverName ?? origin.host
    case .unix:
      self.tls = nil
      self.serverName = serverName ?? "localhost"
    }
  }

  deinit { precondition(open.isEmpty, "an endpoint was dropped with open connections") }

  /// A stream for one request: an idle connection, or one that is being opened (`isReady` is false until
  /// `streamReady`).
  ///
  /// - Parameters:
  ///   - fresh: never an idle one, for a resend after a reused connection died.
  ///   - canResend: whether the caller will send the request again when an idle connection turns out to be dead; otherwise
  ///     that is probed first.
  package func openStream(
    fresh: Bool, canResend: Bool, delegate: any UpstreamStreamDelegate
  ) -> any UpstreamStream {
    // The latest used is the likeliest to be open still.
    while !fresh, let connection = idle.popLast() {
      if connection.begin(delegate, probing: !canResend) { return connection }
    }
    let connection = UpstreamConnection(endpoint: self, delegate: delegate)
    open[ObjectIdentifier(connection)] = connection
    connection.start()
    return connection
  }

  package var openConnections: Int { open.count }
  package var idleConnections: Int { idle.count }

  /// Closes what is idle; connections in use close when their exchange ends, and none is kept any more.
  package func closeIdle() {
    isClosing = true
    releaseIdle()
  }

  /// Closes what is idle now, for whoever needs its descriptors more. - Returns: whether there was any.
  @discardableResult
  package func releaseIdle() -> Bool {
    let released = idle
    for connection in released { connection.cancel() }
    return !released.isEmpty
  }

  // MARK: For UpstreamConnection

  /// - Parameter resuming: false for a whole handshake, whatever sessions there are.
  func makeSession(resuming: Bool) -> TLSSession? {
    tls.map { TLSSession(client: $0, serverName: serverName, sessions: sessions, resuming: resuming) }
  }

  var hasSessions: Bool { sessions.count > 0 }
  func forgetSessions() { sessions.removeAll() }

  /// Offers a connection for reuse. - Returns: false when it must be closed.
  func keep(_ connection: UpstreamConnection) -> Bool {
    guard !isClosing, idle.count < limits.idleMax else { return false }
    idle.append(connection)
    return true
  }

  func forget(_ connection: UpstreamConnection) {
    open[ObjectIdentifier(connection)] = nil
    if let index = idle.firstIndex(where: { $0 === connection }) { idle.remove(at: index) }
  }

  /// The addresses to try, from memory or from a resolver thread.
  func addresses(_ completion: @escaping (Result<[SocketAddress], Resolver.Failure>) -> Void) {
    switch address {
    case .unix(let path):
      guard let address = SocketAddress(unixPath: path) else { return completion(.failure(.notFound("path too long"))) }
      completion(.success([address]))
    case .origin(let origin):
      if let address = SocketAddress(numericHost: origin.host, port: origin.port) {
        return completion(.success([address]))
      }
      if SystemTime.monotonicNanoseconds < knownUntil { return completion(.success(known)) }
      waiting.append(completion)
      guard waiting.count == 1 else { return }
      let bound = LoopBound(self, on: loop)
      resolver.resolve(host: origin.host, port: origin.port, on: loop.mailbox) { result in
        bound.post { $0.resolved(result) }
      }
    }
  }

  private func resolved(_ result: Result<[SocketAddress], Resolver.Failure>) {
    if case .success(let addresses) = result {
      known = addresses
      knownUntil = SystemTime.monotonicNanoseconds + limits.addressNanoseconds
    }
    let answered = waiting
    waiting = []
    for completion in answered { completion(result) }
  }

  /// None of the known addresses could be reached: they may have changed.
  func forgetAddresses() { knownUntil = 0 }
}
