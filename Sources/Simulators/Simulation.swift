import Cryptography
package import EventLoop
package import HTTPWire
import Locking

/// How a simulation starts. Given nothing, there is one client, `svc` with the secret `service-secret`.
package struct SimulationOptions: Sendable {
  /// 0 lets the system choose; so for the others.
  package var authorizationServerPort: UInt16 = 0
  package var apiPort: UInt16 = 0
  /// nil: no admin port.
  package var adminPort: UInt16?
  package var settings = SimulationSettings()
  /// Keys, nonces and opaque tokens are made from it, so that equal seeds give equal ones; nil is a random seed.
  package var seed: String?
  package var time: any TimeSource = SystemTime()
  package var journalEntriesMax = 20_000
  /// Keeps secrets out of the journal.
  package var redactsJournal = false

  /// The usual case: these clients, and one nonce mode for both servers.
  package init(
    clients: [SimulatedClient] = [SimulatedClient(id: "svc", secret: "service-secret")], nonces: NonceMode = .off
  ) {
    settings.authorizationServer.clients = clients
    settings.authorizationServer.server.nonce = NoncePolicy(nonces)
    settings.api.server.nonce = NoncePolicy(nonces)
  }
}

/// An authorization server and an API that run in this process, each on a port of 127.0.0.1.
///
/// ```swift
/// let simulation = try Simulation.start(.init(nonces: .rotate))
/// defer { simulation.stop() }
/// // …send requests to simulation.api.url…
/// simulation.faults.add(.drop(.after, .reset), next: 1, on: .api("/echo"))
/// #expect(simulation.journal.count(role: .api) == 2)
/// ```
package final class Simulation: Sendable {
  package let authorizationServer: SimulatedServer
  package let api: SimulatedServer
  let state: SimulationState
  private let admin = Protected<Listener?>(nil)

  /// - Throws: ``SimulatorError`` if a port can't be had.
  package static func start(_ options: SimulationOptions = SimulationOptions()) throws(SimulatorError)
    -> Simulation
  {
    try Simulation(options)
  }

  private init(_ options: SimulationOptions) throws(SimulatorError) {
    let seed = options.seed.map { Secret(SHA256.hash(Array($0.utf8))) } ?? Secret(SecureRandom.bytes(32))
    let state = SimulationState(options, seed: seed, signingKey: Self.signingKey(seed))
    self.state = state
    authorizationServer = try SimulatedServer(
      port: options.authorizationServerPort, AuthorizationServer(state: state), state)
    do {
      api = try SimulatedServer(port: options.apiPort, APIServer(state: state), state)
    } catch {
      authorizationServer.stop()
      throw error
    }
    do { if let port = options.adminPort { try startAdmin(port: port) } } catch {
      stop()
      throw error
    }
  }

  private func startAdmin(port: UInt16) throws(SimulatorError) {
    // The admin port must not keep the simulation alive, nor be served after it is gone.
    let listener = try Listener(port: port) { [weak self] channel, number in
      if let self { AdminServer(simulation: self).serve(channel, number) }
    }
    admin.withLock { $0 = listener }
  }

  /// Closes the ports and every connection, and returns when all threads have ended. Further calls do nothing.
  package func stop() {
    state.faults.removeAll()
    admin.withLock { $0 }?.stop()
    authorizationServer.stop()
    api.stop()
  }

  /// nil if there is none.
  package var adminPort: UInt16? { admin.withLock { $0?.port } }
  /// `http://127.0.0.1:PORT`; nil if there is none.
  package var adminURL: String? { adminPort.map { "http://127.0.0.1:\($0)" } }

  /// Everything both servers received.
  package var journal: Journal { state.journal }
  /// What goes wrong.
  package var faults: FaultScript { state.faults }

  package var settings: SimulationSettings {
    get { state.settings.withLock { $0 } }
    set { state.settings.withLock { $0 = newValue } }
  }

  /// Changes settings without losing what a request changes at the same time.
  package func withSettings<R: Sendable>(_ body: (inout SimulationSettings) -> sending R) -> R {
    state.settings.withLock { body(&$0) }
  }

  /// The nonce mode of the API; setting it sets that of both servers.
  package var nonceMode: NonceMode {
    get { settings.api.server.nonce.mode }
    set {
      withSettings {
        $0.authorizationServer.server.nonce.mode = newValue
        $0.api.server.nonce.mode = newValue
      }
    }
  }

  /// Makes every nonce given so far wrong; nil is at both servers.
  package func expireNonces(at role: Role? = nil) {
    for (owner, book) in state.nonces where role == nil || role == owner { book.expireAll() }
  }

  /// Makes the API refuse every token issued so far.
  package func revokeTokens() { state.tokens.revokeAll() }

  /// Settings as they were in the beginning; no rules, no journal, no good nonces.
  package func reset() {
    settings = state.initialSettings
    faults.removeAll()
    journal.clear()
    expireNonces()
  }

  private static func signingKey(_ seed: Secret) -> ProofKey {
    let message = Array("signing key".utf8)
    let scalar = Secret(message.withUnsafeBytes { HMACSHA256.authenticate($0, key: seed) })
    // Of 2³² such numbers fewer than one is outside the group's order.
    return (try? ProofKey(scalar: scalar)) ?? .generate()
  }
}

/// One of the two servers, as its clients see it.
package final class SimulatedServer: Sendable {
  package let port: UInt16
  /// `http://127.0.0.1:PORT`
  package let url: String
  package let origin: Origin
  private let listener: Listener

  init<Service: SimulatedService>(port: UInt16, _ service: Service, _ state: SimulationState) throws(SimulatorError) {
    let loop = ServiceLoop(service: service, state: state)
    listener = try Listener(port: port) { loop.serve($0, $1) }
    self.port = listener.port
    let url = "http://127.0.0.1:\(listener.port)"
    self.url = url
    do { origin = try Origin(parsing: url) } catch { preconditionFailure("\(url) is an origin") }
    state.addresses.withLock {
      switch service.role {
      case .authorizationServer: $0.authorizationServer = url
      case .api: $0.api = url
      }
    }
  }

  func stop() { listener.stop() }
}
