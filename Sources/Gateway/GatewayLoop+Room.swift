import EventLoop
import HTTPTransport

/// Connections and descriptors are limited. At a limit accepting rests, and what is idle makes room for what is new, as
/// with nginx when its worker_connections run short: pooled upstream connections, then the clients idle for longest.
extension GatewayLoop {
  /// Idle client connections that are closed at a time.
  private static let makeRoomMax = 32
  /// A connection that was used or opened within this time is not idle enough to be closed: its next request may be on
  /// the way.
  private static let idleMinNanoseconds: UInt64 = 1_000_000_000

  private var isFull: Bool { shared.places.isFull }

  /// Takes a place for the next connection, or sees to it that there will be one.
  func takePlace() -> Bool {
    if shared.places.enter() { return true }
    if !closeIdleClients() { waitForPlace() }
    return false
  }

  /// Makes room for the next connection, which may be another loop's and should not have to wait for it.
  func makeRoomIfFull() {
    if isFull, !draining { _ = closeIdleClients() }
  }

  /// Lets accepting rest until a connection has gone, here or on another loop.
  private func waitForPlace() {
    for acceptor in acceptors { acceptor.pause() }
    guard !waitsForPlace else { return }
    waitsForPlace = true
    let bell = LoopBound(bell, on: loop)
    shared.places.wait { bell.post { $0.ring() } }
  }

  fileprivate func placeIsFree() {
    waitsForPlace = false
    resumeAccepting()
  }

  /// A connection has gone, or it is time to try again.
  func resumeAccepting() {
    guard !isFull else { return }
    acceptFailedLately = false
    for acceptor in acceptors { acceptor.resume() }
  }

  /// No descriptor is left, and the acceptor rests: to try again at once would be all the loop does. It goes on when a
  /// connection has gone, or at the next tick.
  func acceptFailed() {
    acceptFailedLately = true
    if releaseDescriptors() { resumeAccepting() }
  }

  /// Gives up descriptors that are not in use: every pooled upstream connection, which a later request can make again.
  /// - Returns: whether there were any.
  func releaseDescriptors() -> Bool {
    endpoints.reduce(false) { $1.releaseIdle() || $0 } || closeIdleClients()
  }

  /// - Returns: whether there was any.
  private func closeIdleClients() -> Bool {
    let limit = SystemTime.monotonicNanoseconds &- Self.idleMinNanoseconds
    var idle: [(since: UInt64, connection: ServerConnection)] = []
    for connection in connections.values {
      if let since = connection.idleSince, since <= limit { idle.append((since, connection)) }
    }
    idle.sort { $0.since < $1.since }
    let wanted = min(Self.makeRoomMax, max(1, connections.count / 8))
    var closed = 0
    for entry in idle where closed < wanted && entry.connection.closeIfIdle() { closed += 1 }
    return closed > 0
  }
}

/// What other threads refer to weakly to tell a loop of a place: as with `LoopHandle`, not the loop itself.
final class PlaceBell {
  private unowned let gateway: GatewayLoop
  init(_ gateway: GatewayLoop) { self.gateway = gateway }
  func ring() { gateway.placeIsFree() }
}
