import Credentials
import Cryptography
import EventLoop
import HTTPTransport
import HTTPWire
import OAuth
import Tracing

/// Everything one loop of the gateway owns. Loops share only immutable values, token sources, nonces and the log's hub.
final class GatewayLoop {
  let loop: EventLoop
  let shared: GatewayShared
  let routes: RouteTable
  private let admission: Admission
  let scratch: LoopScratch
  let budget: KeptBytesBudget
  let log: LoopLog
  let endpoints: [UpstreamEndpoint]
  private let peers: PeerUser?
  var acceptors: [Acceptor] = []
  /// No place was left: accepting rests until one is said to be free.
  var waitsForPlace = false
  private(set) lazy var bell = PlaceBell(self)
  /// No descriptor was left: accepting rests until the next tick.
  var acceptFailedLately = false
  private(set) var connections: [ObjectIdentifier: ServerConnection] = [:]
  /// The most connections at a time since memory was last given back.
  private var connectionsPeak = 0
  private var signers: [ProofSigner?]
  private var proof = ByteBuffer()
  private var clockSampledAt: [UInt64]
  private(set) var draining = false
  private var whenDrained: (() -> Void)?
  private let ticker: Deadline
  private var wallOffset: Int64 = 0
  var lastCaller: (uid: UInt32, label: LogLabel)?
  private let ownUID = PeerUser.ownUID

  /// How often the log is handed over while nobody watches.
  private static let logFlushNanoseconds: UInt64 = 100_000_000
  /// How often a healthy upstream's clock is looked at.
  private static let clockSampleNanoseconds: UInt64 = 1_000_000_000
  /// How many connections make a burst, whose memory is given back when three quarters of them have left.
  private static let burstConnectionsMin = 128

  init(loop: EventLoop, shared: GatewayShared) {
    self.loop = loop
    ticker = Deadline(on: loop)
    self.shared = shared
    routes = shared.routes
    admission = shared.admission
    scratch = LoopScratch(limits: shared.settings.headLimits)
    budget = shared.budget
    log = LoopLog(hub: shared.hub)
    signers = Array(repeating: nil, count: shared.routes.routes.count)
    clockSampledAt = Array(repeating: 0, count: shared.routes.routes.count)
    peers = try? PeerUser()  // without sock_diag no TCP peer is known, and none is let in
    endpoints = shared.endpoints.map { [scratch] definition in
      UpstreamEndpoint(
        loop: loop, address: .origin(definition.origin), tls: definition.tls, serverName: definition.serverName,
        scratch: scratch, resolver: shared.resolver, limits: definition.limits)
    }
    ticker.bind(to: self)
    loop.afterIteration = { [unowned self] in if self.log.wantsFlush { self.log.flush() } }
    tick()
  }

  // MARK: Accepting

  /// Starts to accept from a listening descriptor, which the loop then owns.
  func listen(_ descriptor: Int32) {
    acceptors.append(
      Acceptor(
        loop: loop, descriptor: descriptor,
        mayTake: { [unowned self] in self.takePlace() },
        tookNone: { [unowned self] in self.shared.places.leave() },
        accepted: { [unowned self] descriptor, _ in self.accepted(descriptor) },
        failed: { [unowned self] _ in self.acceptFailed() }))
  }

  private func accepted(_ descriptor: Int32) {
    let uid = peers?.uid(ofPeerOf: descriptor)
    let exchange = Exchange(gateway: self, callerUID: uid)
    let connection = ServerConnection(
      loop: loop, descriptor: descriptor, scratch: scratch, timeouts: shared.settings.server, handler: exchange)
    exchange.client = connection
    connections[ObjectIdentifier(connection)] = connection
    connectionsPeak = max(connectionsPeak, connections.count)
    connection.whenClosed = { [unowned self] connection in self.forget(connection) }
    makeRoomIfFull()
  }

  private func forget(_ connection: ServerConnection) {
    connections[ObjectIdentifier(connection)] = nil
    shared.places.leave()
    if acceptFailedLately { resumeAccepting() }
    finishDraining()
  }

  // MARK: For exchanges

  /// The wall clock at a moment of the monotonic one, as the two stood within the last tenth of a second.
  func wallNanoseconds(at monotonic: UInt64) -> Int64 { Int64(monotonic) + wallOffset }

  /// Whether the owner of the other end may use the gateway.
  func knows(_ uid: UInt32?) -> Bool {
    switch shared.settings.callers {
    case .any: true
    case .sameUser: uid == ownUID
    }
  }

  func admit(_ head: RequestHead, _ bytes: UnsafeRawBufferPointer, _ fields: FieldTable) -> Admission.Verdict {
    guard let host = head.host else {
      return .refused(.badRequest, "There is no Host field.")
    }
    guard !fields.isRepeated(.origin), !fields.isRepeated(.secFetchSite) else {
      return .refused(.crossSiteRefused, "Origin or Sec-Fetch-Site is there more than once.")
    }
    return admission.judge(
      host: bytes[host], origin: fields.firstIndex(of: .origin).map { bytes[fields[$0].value] },
      fetchSite: fields.firstIndex(of: .secFetchSite).map { bytes[fields[$0].value] })
  }

  func endpoint(for route: GatewayRoute) -> UpstreamEndpoint { endpoints[route.endpoint] }

  func mayLearnClock(of route: GatewayRoute, now: UInt64) -> Bool {
    guard now >= clockSampledAt[route.index] &+ Self.clockSampleNanoseconds else { return false }
    clockSampledAt[route.index] = now
    return true
  }

  /// Makes the proof for one send; `withProof` lends it.
  ///
  /// - Returns: whether the target can be put into a proof.
  func sign(
    _ template: borrowing RequestTemplate, route: GatewayRoute, token: AccessToken, nonce: NonceValue?,
    wallNanoseconds: Int64
  ) -> Bool {
    guard let key = token.proofKey else { return false }
    let signer: ProofSigner
    if let known = signers[route.index], known.key === key {
      signer = known
    } else {
      signer = ProofSigner(key: key)
      signers[route.index] = signer
    }
    let issuedAt =
      route.skew?.issuedAtUnixSeconds(wallNanoseconds: wallNanoseconds) ?? wallNanoseconds / 1_000_000_000
    proof.removeAll()
    return template.withProofTarget { htm, htu in
      token.ath.withUnsafeBytes { ath in
        (nonce?.bytes ?? []).withUnsafeBytes { nonce in
          let room = proof.reserve(
            ProofSigner.proofBytesMax(htmBytes: htm.count, htuBytes: htu.count, nonceBytes: nonce.count))
          do throws(CryptographyError) {
            proof.commit(
              try signer.sign(htm: htm, htu: htu, ath: ath, nonce: nonce, issuedAtUnixSeconds: issuedAt, into: room))
            return true
          } catch {
            return false
          }
        }
      }
    }
  }

  func withProof(_ body: (UnsafeRawBufferPointer) -> Void) { proof.withUnsafeBytes(body) }

  // MARK: Draining

  /// Takes no more connections, lets exchanges under way finish, then calls `done` once.
  func drain(_ done: @escaping () -> Void) {
    whenDrained = done
    draining = true
    acceptors = []
    for connection in connections.values { connection.drain() }
    finishDraining()
  }

  private func finishDraining() {
    guard draining, connections.isEmpty, let done = whenDrained else { return }
    whenDrained = nil
    for endpoint in endpoints { endpoint.closeIdle() }
    log.flush()
    done()
  }

  /// Ends what has not finished by itself.
  func abortAll() { for connection in connections.values { connection.abort() } }

  func close() {
    ticker.remove()
    loop.afterIteration = nil
  }
}

extension GatewayLoop: DeadlineTarget {
  private func giveMemoryBack() {
    guard connectionsPeak >= Self.burstConnectionsMin, connections.count <= connectionsPeak / 4 else { return }
    connectionsPeak = connections.count
    ProcessMemory.trim()
  }

  private func tick() {
    wallOffset = SystemTime().wallNanoseconds - Int64(SystemTime.monotonicNanoseconds)
    ticker.set(after: Self.logFlushNanoseconds)
  }

  func deadlinePassed(_ deadline: Deadline) {
    log.flush()
    giveMemoryBack()
    makeRoomIfFull()
    resumeAccepting()
    tick()
  }
}

extension FieldTable {
  /// Whichever of two values a reader believes, another reader may believe the other.
  fileprivate func isRepeated(_ id: FieldID) -> Bool {
    has(id) && count(of: id) > 1
  }
}
