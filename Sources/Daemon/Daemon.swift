package import Configuration
import Console
import Credentials
package import EventLoop
import Gateway
import HTTPTransport
import HTTPWire
import OAuth
import Tracing

/// The composition root: makes a running gateway of a configuration, and ends it in order.
package final class Daemon: Sendable {
  private let gateway: Gateway
  private let control: ControlLoop
  private let hub: RecordHub
  private let listeners: ListenerAssembly
  private let drainLimit: Duration
  private let routeCount: Int
  private let accounts: AccountBook
  /// What the user should know although all works.
  package let warnings: [String]

  /// Starts everything; requests can be sent when this returns.
  ///
  /// - Parameters:
  ///   - controlSocketPath: where the admin API is served, see `ControlSocketPath`; nil for nowhere.
  ///   - probes: told how far each refresh has come.
  /// - Throws: `DaemonError`; nothing is left behind then.
  package init(
    _ configuration: Configuration, controlSocketPath: String? = nil,
    probes: RefreshProbes = .none
  ) throws(DaemonError) {
    ProcessMemory.returnLargeBlocks()
    let controlSocket = try controlSocketPath.map { (path) throws(DaemonError) in try Self.bindControl(path) }
    if configuration.callers == .sameUser { try Self.checkPeerLookUp() }
    let fit = ConnectionFit(configuration, descriptors: DescriptorLimit.raise())
    warnings = fit.warning.map { [$0] } ?? []
    let listeners = try ListenerAssembly(configuration)
    do throws(DaemonError) {
      let hub = try Self.openLog(configuration)
      let resolver = Resolver()
      let control = ControlLoop(resolver: resolver)
      do throws(DaemonError) {
        var trust = TrustStore()
        let skews = ClockSkewTable()
        let credentials = try CredentialAssembly(
          configuration, control: control, hub: hub, skews: skews, trust: &trust, probes: probes)
        let assembly = try RouteAssembly(configuration, credentials: credentials, skews: skews, trust: &trust)
        gateway = Gateway(
          GatewayShared(
            settings: GatewaySettings(configuration, connections: fit.connections), routes: RouteTable(assembly.routes),
            endpoints: assembly.endpoints, admission: listeners.admission(configuration), hub: hub,
            resolver: resolver),
          listeners: listeners.listeners)
        routeCount = assembly.routes.count
        accounts = credentials.book
        accounts.start()
        credentials.warmUp(configuration)
        if let controlSocket {
          let report = StatusReport(
            configuration: configuration, listeners: listeners.bound, accounts: accounts, hub: hub)
          control.serve(
            controlSocket,
            ControlSources(
              status: { report.status }, routes: { report.routes }, hub: hub, accounts: accounts))
        }
      } catch {
        control.stop()
        hub.flushAndClose()
        throw error
      }
      self.hub = hub
      self.control = control
    } catch {
      listeners.abandon()
      throw error
    }
    self.listeners = listeners
    drainLimit = configuration.timeouts.drain
  }

  /// Where the gateway listens: `http://127.0.0.1:9449`, or `unix:/path`. The first address if there are several.
  package var url: String { listeners.url }

  /// As `proofd --version` shows it.
  package static let version = "0.1.0"

  /// The line `proofd serve` prints when it is ready.
  package var announcement: String {
    "proofd listens on \(url) (\(routeCount) \(routeCount == 1 ? "route" : "routes"))"
  }

  /// Takes signals from now on: SIGTERM or SIGINT opens the gate, a second one breaks off what is under way. Before the
  /// announcement, as whoever reads that may send one.
  ///
  /// SIGHUP opens the log file again; if that fails the old one stays in use, and standard error says so.
  package func watchSignals() -> ThreadGate {
    control.watchSignals(
      again: { [gateway] in gateway.breakOff() },
      hangUp: { [hub] in
        do throws(TracingError) {
          try hub.reopen()
        } catch {
          StandardError.say("\(error); the file that is open stays in use")
        }
      })
  }

  /// Accepts nothing more, lets what is under way finish for `timeouts.drain`, writes the log out and ends all threads.
  package func stop() async {
    await gateway.drain(limit: drainLimit)
    await accounts.stop()
    hub.flushAndClose()  // before the control socket closes: who watches sees the last records
    control.stop()
    listeners.close()
  }

  /// Better no start than a gateway that refuses everybody.
  private static func checkPeerLookUp() throws(DaemonError) {
    do throws(SocketError) {
      _ = try PeerUser()
    } catch {
      throw .callers(error.description)
    }
  }

  private static func bindControl(_ path: String) throws(DaemonError) -> ControlSocket {
    do throws(ControlSocketError) {
      return try ControlSocket(path: path)
    } catch {
      throw .control(error.description)
    }
  }

  private static func openLog(_ configuration: Configuration) throws(DaemonError) -> RecordHub {
    do throws(TracingError) {
      return try RecordHub(configuration.log.file.map { .file(path: $0) } ?? .standardError)
    } catch {
      throw .log("\(error)")
    }
  }
}

extension GatewaySettings {
  init(_ configuration: Configuration, connections: Int) {
    self.init()
    loops = configuration.threads
    callers = configuration.callers == .any ? .any : .sameUser
    headLimits = HeadLimits(
      headBytesMax: configuration.limits.headBytesMax, fieldCountMax: configuration.limits.fieldCountMax,
      targetBytesMax: configuration.limits.targetBytesMax)
    server.head = configuration.timeouts.head.unsignedNanoseconds
    server.body = configuration.timeouts.body.unsignedNanoseconds
    server.send = configuration.timeouts.send.unsignedNanoseconds
    server.idle = configuration.timeouts.idle.unsignedNanoseconds
    connectionsMax = connections
    waitingMax = configuration.limits.waitingMax
    replayTotalBytes = configuration.replayTotalBytes
  }
}
