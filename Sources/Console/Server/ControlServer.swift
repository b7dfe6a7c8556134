package import EventLoop
import HTTPTransport
import HTTPWire

/// Serves the admin API (`Config/admin-api.yaml`) on the control socket, to processes of the same user only.
///
/// Bound to one loop: made there, closed there before the loop stops.
package final class ControlServer {
  /// Each connection may hold as much as one answer and one subscriber of the log.
  private static let connectionsMax = 64
  private static let limits = HeadLimits(headBytesMax: 8_192, fieldCountMax: 50, targetBytesMax: 2_048)
  /// How long accepting rests when no descriptor is left.
  private static let acceptPauseNanoseconds: UInt64 = 100_000_000

  private let loop: EventLoop
  private let socket: ControlSocket
  private let sources: ControlSources
  private let scratch = LoopScratch(limits: ControlServer.limits)
  private let peers: PeerUser?
  private let timeouts: ServerTimeouts
  private var acceptor: Acceptor?
  private let retry: Deadline
  private var connections: [ObjectIdentifier: (connection: ServerConnection, exchange: ControlExchange)] = [:]

  /// Takes `socket` over and serves at once.
  package convenience init(loop: EventLoop, socket: ControlSocket, sources: ControlSources) {
    self.init(loop: loop, socket: socket, sources: sources, ownUID: PeerUser.ownUID)
  }

  /// - Parameter ownUID: whose processes are served; tests choose another.
  init(loop: EventLoop, socket: ControlSocket, sources: ControlSources, ownUID: UInt32) {
    loop.assertOnLoop()
    self.loop = loop
    retry = Deadline(on: loop)
    self.socket = socket
    self.sources = sources
    peers = try? PeerUser()  // without it nobody is known, and nobody is served
    var timeouts = ServerTimeouts()
    // A reader that was stopped (a pager, Ctrl-Z) keeps its stream; what it can hold up is bounded.
    timeouts.send = 24 * 3_600_000_000_000
    self.timeouts = timeouts
    retry.bind(to: self)
    acceptor = Acceptor(
      loop: loop, descriptor: socket.take(),
      accepted: { [unowned self] descriptor, _ in self.accepted(descriptor, ownUID: ownUID) },
      failed: { [unowned self] _ in self.acceptLater() })
  }

  private func accepted(_ descriptor: Int32, ownUID: UInt32) {
    let exchange = ControlExchange(sources: sources, isKnown: peers?.uid(ofPeerOf: descriptor) == ownUID)
    let connection = ServerConnection(
      loop: loop, descriptor: descriptor, scratch: scratch, timeouts: timeouts, handler: exchange)
    connections[ObjectIdentifier(connection)] = (connection, exchange)
    connection.whenClosed = { [unowned self] connection in
      connections[ObjectIdentifier(connection)] = nil
      if connections.count < Self.connectionsMax { acceptor?.resume() }
    }
    if connections.count >= Self.connectionsMax { acceptor?.pause() }
  }

  private func acceptLater() {
    retry.set(after: Self.acceptPauseNanoseconds)
  }

  /// Ends live answers properly, closes all connections and removes the socket file.
  package func close() {
    loop.assertOnLoop()
    acceptor = nil
    retry.remove()
    socket.remove()
    for (connection, exchange) in connections.values {
      exchange.finish()
      connection.close()
    }
  }
}

extension ControlServer: DeadlineTarget {
  package func deadlinePassed(_ deadline: Deadline) { acceptor?.resume() }
}
