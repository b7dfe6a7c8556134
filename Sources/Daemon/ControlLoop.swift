import EventLoop
import Glibc
import HTTPTransport
import HTTPWire
import Synchronization
import Tracing

/// The thread of the control plane: signals, calls of authorization servers, the control socket.
final class ControlLoop: Sendable {
  private let thread: LoopThread
  private let box: ControlBox
  private let ended = ThreadGate()
  private let endings = Mutex<(count: Int, again: (@Sendable () -> Void)?)>((0, nil))

  init(resolver: Resolver, hub: RecordHub) {
    let box = ControlBox()
    self.box = box
    thread = LoopThread(name: "control") { loop in
      let connections = ClientConnections(
        loop: loop, scratch: LoopScratch(limits: HeadLimits()), resolver: resolver)
      loop.keep(connections)
      box.fill(connections)
    }
  }

  /// A client for one credential's authorization server.
  func client(trusting tls: TLSContext) -> HTTPClient { HTTPClient(connections: box.connections, tls: tls) }

  /// Runs `work` with the loop, on it, before this returns: to hang something on it.
  func prepare(_ work: @escaping @Sendable (EventLoop) -> Void) {
    let done = ThreadGate()
    box.connections.post {
      work($0.loop)
      done.open()
    }
    done.wait()
  }

  /// Blocks until SIGTERM or SIGINT; `again` is called for each later one. SIGHUP goes to `hangUp`.
  func waitForSignal(again: @escaping @Sendable () -> Void, hangUp: @escaping @Sendable () -> Void) {
    endings.withLock { $0.again = again }
    prepare { [weak self] loop in
      for number in [SIGTERM, SIGINT] {
        loop.keep(SignalEvent(loop: loop, signal: number) { self?.end() })
      }
      loop.keep(SignalEvent(loop: loop, signal: SIGHUP) { hangUp() })
    }
    ended.wait()
  }

  private func end() {
    let again = endings.withLock { endings in
      endings.count += 1
      return endings.count > 1 ? endings.again : nil
    }
    ended.open()
    again?()
  }

  func stop() {
    box.connections.post { $0.close() }
    thread.stop()
    thread.join()
  }
}

/// Carries the control loop's connections from its thread; used through their mailbox only.
private final class ControlBox: @unchecked Sendable {  // filled before the thread's initialiser returns, then read only
  private var bound: LoopBound<ClientConnections>?

  var connections: LoopBound<ClientConnections> {
    guard let bound else { preconditionFailure("the control loop has not started") }
    return bound
  }

  func fill(_ connections: ClientConnections) { bound = LoopBound(connections, on: connections.loop) }
}
