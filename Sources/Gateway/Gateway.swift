package import EventLoop
package import HTTPTransport
package import HTTPWire
package import Tracing

/// Who may use the gateway.
package enum Callers: Sendable { case sameUser, any }

/// What the data plane needs to know besides its routes.
package struct GatewaySettings: Sendable {
  package var loops = 2
  package var callers = Callers.sameUser
  package var headLimits = HeadLimits()
  package var server = ServerTimeouts()
  /// Client connections open at a time, over all loops.
  package var connectionsMax = 10_000
  /// Requests that may wait for a token at a time, over all loops.
  package var waitingMax = 1_024
  /// Bytes of memory for bodies that are kept, over all loops.
  package var replayTotalBytes = 32 << 20

  package init() {}
}

/// One upstream as every loop connects to it.
package struct EndpointDefinition: Sendable {
  package var origin: Origin
  package var tls: TLSContext?
  package var serverName: String?
  package var limits = UpstreamLimits()

  package init(origin: Origin, tls: TLSContext?, serverName: String?) {
    self.origin = origin
    self.tls = tls
    self.serverName = serverName
  }
}

/// What all loops share.
package final class GatewayShared: Sendable {
  let settings: GatewaySettings
  let routes: RouteTable
  let endpoints: [EndpointDefinition]
  let admission: Admission
  let hub: RecordHub
  let resolver: Resolver
  let waiting: Places
  let places: ConnectionPlaces
  let budget: KeptBytesBudget

  package init(
    settings: GatewaySettings, routes: RouteTable, endpoints: [EndpointDefinition], admission: Admission,
    hub: RecordHub, resolver: Resolver
  ) {
    self.settings = settings
    self.routes = routes
    self.endpoints = endpoints
    self.admission = admission
    self.hub = hub
    self.resolver = resolver
    waiting = Places(limit: settings.waitingMax)
    places = ConnectionPlaces(limit: settings.connectionsMax)
    budget = KeptBytesBudget(bytes: settings.replayTotalBytes)
  }
}

/// The running data plane: one thread and loop each, all accepting on the same addresses.
package final class Gateway: Sendable {
  private let threads: [LoopThread]
  private let loops: [LoopBound<LoopHandle>]

  /// Starts accepting.
  ///
  /// - Parameter listeners: bound for `settings.loops` loops each; the loops take over their descriptors.
  package init(_ shared: GatewayShared, listeners: [ListenerGroup]) {
    var threads: [LoopThread] = []
    var loops: [LoopBound<LoopHandle>] = []
    for index in 0..<shared.settings.loops {
      let box = LoopBox()
      threads.append(
        LoopThread(name: "gateway-\(index)") { loop in
          let gateway = GatewayLoop(loop: loop, shared: shared)
          for listener in listeners { gateway.listen(listener.descriptors[index]) }
          box.fill(gateway, loop)
        })
      loops.append(box.bound)
    }
    self.threads = threads
    self.loops = loops
  }

  /// Breaks off every exchange under way.
  package func breakOff() {
    for loop in loops { loop.post { $0.gateway.abortAll() } }
  }

  /// Stops accepting, lets what is under way finish within `limit`, breaks off the rest, and ends the threads.
  package func drain(limit: Duration) async {
    await withTaskGroup(of: Void.self) { group in
      for loop in loops {
        group.addTask {
          await withCheckedContinuation { continuation in loop.post { $0.gateway.drain { continuation.resume() } } }
        }
      }
      group.addTask {
        guard (try? await Task.sleep(for: limit)) != nil else { return }  // cancelled: all have finished
        self.breakOff()
      }
      for _ in loops { await group.next() }
      group.cancelAll()
    }
    for loop in loops { loop.post { $0.gateway.close() } }
    for thread in threads { thread.stop() }
    for thread in threads { thread.join() }
  }
}

/// What other threads refer to weakly in the place of a `GatewayLoop`: a weak reference makes every later retain of its
/// object slow, and the loop is retained several times a request.
private final class LoopHandle {
  let gateway: GatewayLoop
  init(_ gateway: GatewayLoop) { self.gateway = gateway }
}

/// Carries a loop's handle from its thread to the one that starts it, and keeps it alive as long as its loop.
private final class LoopBox: @unchecked Sendable {  // filled before the thread's initialiser returns, then read only
  private var made: LoopBound<LoopHandle>?

  var bound: LoopBound<LoopHandle> {
    guard let made else { preconditionFailure("the loop's thread has not started") }
    return made
  }

  func fill(_ gateway: GatewayLoop, _ loop: EventLoop) {
    let handle = LoopHandle(gateway)
    loop.keep(handle)
    made = LoopBound(handle, on: loop)
  }
}
