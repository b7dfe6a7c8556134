/// How much of a thing the gateway takes.
package struct Limits: Sendable, Equatable {
  /// Client connections open at a time, over all loops.
  package var connectionsMax = 10_000
  /// Requests waiting for a token at a time, over all loops.
  package var waitingMax = 1024
  /// A request body; nil is any size. A route may say otherwise.
  package var bodyBytesMax: Int?
  /// A request or response head, request line and fields together.
  package var headBytesMax = 32 * 1024
  package var fieldCountMax = 100
  /// A request target.
  package var targetBytesMax = 16 * 1024
  /// Idle connections kept for each upstream by each loop.
  package var idleUpstreamConnectionsMax = 64

  package init() {}
}

/// How long the gateway waits.
package struct Timeouts: Sendable, Equatable {
  /// For the rest of a request head, from its first byte.
  package var head: Duration = .seconds(10)
  /// For the next byte of a request body.
  package var body: Duration = .seconds(60)
  /// For a client to take enough of an answer, and an upstream of a request, that the kernel has room again: about a third
  /// of a socket's buffer.
  package var send: Duration = .seconds(60)
  /// For the next request on a client's connection.
  package var idle: Duration = .seconds(75)
  /// For a connection to the upstream, TLS included.
  package var connect: Duration = .seconds(10)
  /// From the end of a request to the upstream's response head.
  package var response: Duration = .seconds(300)
  /// How long an idle upstream connection is kept; below what common servers allow (nginx 75 s).
  package var idleUpstream: Duration = .seconds(55)
  /// How long a request waits for a token it has none for.
  package var token: Duration = .seconds(10)
  /// How long requests in flight may take to end when the daemon stops.
  package var drain: Duration = .seconds(30)

  package init() {}
}

/// What one route waits for.
package struct RouteTimeouts: Sendable, Equatable {
  /// As `Timeouts.connect`.
  package var connect: Duration
  /// As `Timeouts.response`.
  package var response: Duration
  /// As `Timeouts.token`.
  package var token: Duration

  /// What a route waits for that says nothing of its own.
  package init(_ timeouts: Timeouts) {
    connect = timeouts.connect
    response = timeouts.response
    token = timeouts.token
  }
}
