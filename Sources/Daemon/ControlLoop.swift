import Console
import EventLoop
import Glibc
import HTTPTransport
import HTTPWire
import Locking
import Tracing

/// The thread of the control plane: signals, calls of authorization servers, the control socket.
final class ControlLoop: Sendable {
  private let thread: LoopThread
  private let plane: LoopBound<ControlPlane>
  private let connections: LoopBound<ClientConnections>

  init(resolver: Resolver) {
    let box = ControlBox()
    thread = LoopThread(name: "control") { loop in
      let plane = ControlPlane(
        loop: loop,
        connections: ClientConnections(loop: loop, scratch: LoopScratch(limits: HeadLimits()), resolver: resolver))
      loop.keep(plane)
      box.fill(plane)
    }
    (plane, connections) = box.content
  }

  /// A client for one credential's authorization server.
  func client(trusting tls: TLSTrust) -> HTTPClient { HTTPClient(connections: connections, tls: tls) }

  /// Serves the admin API on `socket` from now on.
  func serve(_ socket: ControlSocket, _ sources: ControlSources) {
    plane.post { $0.serve(socket, sources) }
  }

  /// Takes signals from now on: SIGTERM or SIGINT opens the gate, `again` is called for each later one, `hangUp` for
  /// SIGHUP.
  func watchSignals(again: @escaping @Sendable () -> Void, hangUp: @escaping @Sendable () -> Void) -> ThreadGate {
    let (ended, installed) = (ThreadGate(), ThreadGate())
    let count = Protected(0)
    plane.post { plane in
      plane.watch([SIGTERM, SIGINT]) {
        let isFirst = count.withLock { count in
          count += 1
          return count == 1
        }
        isFirst ? ended.open() : again()
      }
      plane.watch([SIGHUP], hangUp)
      installed.open()
    }
    installed.wait()
    return ended
  }

  func stop() {
    plane.post { $0.close() }
    thread.stop()
    thread.join()
  }
}

/// What hangs on the control loop. Loop-bound.
private final class ControlPlane {
  private let loop: EventLoop
  let connections: ClientConnections
  private var server: ControlServer?
  private var signals: [SignalEvent] = []

  init(loop: EventLoop, connections: ClientConnections) {
    self.loop = loop
    self.connections = connections
  }

  func serve(_ socket: ControlSocket, _ sources: ControlSources) {
    server = ControlServer(loop: loop, socket: socket, sources: sources)
  }

  func watch(_ numbers: [Int32], _ action: @escaping () -> Void) {
    for number in numbers { signals.append(SignalEvent(loop: loop, signal: number, action: action)) }
  }

  func close() {
    server?.close()
    server = nil
    signals = []
    connections.close()
  }
}

/// Carries the control plane from its thread to the one that starts it, to be used through mailboxes.
private final class ControlBox: @unchecked Sendable {  // filled before the thread's initialiser returns, then read only
  private var filled: (LoopBound<ControlPlane>, LoopBound<ClientConnections>)?

  var content: (LoopBound<ControlPlane>, LoopBound<ClientConnections>) {
    guard let filled else { preconditionFailure("the control loop has not started") }
    return filled
  }

  func fill(_ plane: ControlPlane) {
    filled = (LoopBound(plane, on: plane.connections.loop), LoopBound(plane.connections, on: plane.connections.loop))
  }
}
