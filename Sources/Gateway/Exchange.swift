import Credentials
import EventLoop
import HTTPTransport
import HTTPWire
import OAuth
import Tracing

/// One request from its head to its log record (design §4), and, on the same client connection, the next.
///
/// A synchronous state machine on one loop. It reads top to bottom in the order things happen: admit, route, token,
/// send, judge, deliver, log. Waiting is a phase; whoever wakes it says for which wait (`waitGeneration`).
final class Exchange: ServerConnectionHandler, UpstreamStreamDelegate, DeadlineTarget {
  enum Phase: Equatable {
    case idle
    case awaitingToken
    case awaitingStream
    /// The head is sent with `Expect: 100-continue`, the body is held back.
    case awaitingContinue
    /// Head and body go out as they come.
    case sending
    /// A response that may ask for a replay is held until its body says so.
    case peeking
    /// The rest of a refused attempt's response is thrown away before the replay.
    case discarding(ReplayAction)
    case delivering
    /// The answer is complete, and some of it not with the kernel yet.
    case completing
  }

  /// Response bytes thrown away to keep a connection; more is dearer than a new one.
  static let discardBytesMax = 65_536
  /// How long an upstream may take to end a response that will be thrown away.
  static let discardNanoseconds: UInt64 = 1_000_000_000
  /// How long `Expect: 100-continue` is waited for (RFC 9110 §10.1.1).
  static let continueNanoseconds: UInt64 = 1_000_000_000

  let gateway: GatewayLoop
  unowned(unsafe) var client: ServerConnection?
  let callerUID: UInt32?
  var phase = Phase.idle
  /// Between a request's first sign and its record: each request has one.
  var isOpen = false
  /// Made by the first exchange that has to wait.
  var deadline: Deadline?

  // The request
  var template = RequestTemplate()
  var body = RequestBody()
  var route: GatewayRoute?
  var methodIsHEAD = false
  var methodIsIdempotent = false
  var clientPersistent = true
  var clientMinorVersion: UInt8 = 1
  var clientExpectsContinue = false
  var clientNavigates = false

  // The attempt
  var token: AccessToken?
  var machine = ReplayMachine()
  var stream: (any UpstreamStream)?
  var nonceSend: NonceSend?
  var resentAfterClose = false
  /// Body bytes were held back and will not be sent: no more of the body may follow them.
  var uploadAbandoned = false
  /// Among the loop's `uploads`.
  var isUpload = false
  var sentAtMonotonic: UInt64 = 0
  var sentAtWall: Int64 = 0
  var waitGeneration: UInt64 = 0
  /// While a token is waited for in a place that is counted.
  var waitingPlace: TokenSource.Place?
  /// Whether time has passed since the request came: for a token, a connection, an earlier send.
  var hasWaited = false

  // The response
  /// A refused answer, kept while its body may say more, or while a better token is looked for.
  var held = HeldResponse()
  var heldSignal: ResponseSignal?
  var discardedBytes = 0
  var responseFraming = BodyFraming.none
  var responseStarted = false
  /// What goes behind a chunked answer, as lines.
  var responseTrailers = ByteBuffer()

  /// What the log record will say.
  var trace = ExchangeTrace()

  init(gateway: GatewayLoop, callerUID: UInt32?) {
    self.gateway = gateway
    self.callerUID = callerUID
  }

  // MARK: 1–2. Admit, route, policy

  func connection(
    _ connection: ServerConnection, received head: RequestHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable
  ) {
    begin(head, bytes, fields)
    guard gateway.knows(callerUID) else {
      return answer(.callerUnknown, "The connection comes from another user of this machine, or none can be found.")
    }
    switch head.knownMethod {
    case .connect, .trace, .track: return answer(.methodNotProxied, Self.neverForwarded)
    // Some servers take a method in any case.
    case .other where Self.isNeverForwarded(bytes[head.method]): return answer(.methodNotProxied, Self.neverForwarded)
    default: break
    }
    let byHost: GatewayRoute?
    switch gateway.admit(head, bytes, fields) {
    case .refused(let code, let detail): return answer(code, "\(detail)")
    case .admitted: byHost = nil
    case .admittedForRoute(let index): byHost = gateway.routes.routes[index]
    }
    let path: ByteRange
    let query: ByteRange?
    switch RequestTarget.parse(bytes, of: head) {
    case .failure(let violation): return answer(.badRequest, "\(violation.detail)")
    case .success(.origin(let rawPath, let rawQuery)), .success(.absolute(_, _, let rawPath, let rawQuery)):
      (path, query) = (rawPath, rawQuery)
    case .success(.authority), .success(.asterisk):
      return answer(.badRequest, "The request target names no path.")
    }
    guard !DotSegments.isPresent(in: bytes[path]) else {
      return answer(.badRequest, "The path has '.' or '..' segments, which could leave the route.")
    }
    guard let (route, strippedBytes) = byHost.map({ ($0, 0) }) ?? gateway.routes.match(path: bytes[path]) else {
      return answer(.noRoute, "No route's path matches this one.")
    }
    self.route = route
    guard route.allows(method: bytes[head.method]) else {
      return answer(.refusedByPolicy, "The route does not allow this method.")
    }
    template.build(
      head, in: bytes, fields: fields, path: path, query: query, strippedBytes: strippedBytes, route: route,
      withProofTarget: route.needsProof)
    if case .length(let count) = head.framing, count > route.bodyLimitBytes {
      return answer(.bodyTooLarge, Self.tooLarge)
    }
    body.begin(head.framing, limitBytes: route.replayLimitBytes)
    if !body.isComplete { countUpload() }
    acquireToken(route)
  }

  // MARK: 3. Token

  private func acquireToken(_ route: GatewayRoute) {
    guard let tokens = route.tokens else {
      trace.auth.append(.none)
      return openStream(route)
    }
    if let token = tokens.current() {
      self.token = token
      trace.auth.append(route.isStatic ? .static : .cached)
      return openStream(route)
    }
    waitForToken()
  }

  // MARK: 4–5. Send

  func openStream(fresh: Bool = false) {
    if let route { openStream(route, fresh: fresh) }
  }

  private func openStream(_ route: GatewayRoute, fresh: Bool = false) {
    phase = .awaitingStream
    responseTrailers.release()
    let stream = gateway.endpoint(for: route).openStream(
      fresh: fresh, canResend: methodIsIdempotent && body.isComplete && body.isReplayable && !resentAfterClose,
      delegate: self)
    self.stream = stream
    if stream.isReady { return sendHead(on: stream, route) }
    hasWaited = true
    holdUpload()
  }

  func streamReady(_ stream: any UpstreamStream) {
    guard phase == .awaitingStream, stream === self.stream, let route else { return }
    sendHead(on: stream, route)
  }

  /// Signs and writes one attempt: a new proof for every send (RFC 9449 §11.1).
  private func sendHead(on stream: any UpstreamStream, _ route: GatewayRoute) {
    let token = token
    hasWaited = hasWaited || trace.attempts > 0
    trace.attempts += 1
    trace.reused = stream.isReused
    sentAtMonotonic = hasWaited ? SystemTime.monotonicNanoseconds : trace.startMonotonic
    if trace.firstSentMonotonic == 0 { trace.firstSentMonotonic = sentAtMonotonic }
    nonceSend = nil
    if let token, token.proofKey != nil {
      sentAtWall = SystemTime().wallNanoseconds
      nonceSend = route.nonces?.beginSend()
      guard gateway.sign(template, route: route, token: token, nonce: nonceSend?.nonce, wallNanoseconds: sentAtWall)
      else { return answer(.badRequest, "The path holds bytes that no proof's htu can hold.") }
    }
    let holdBack = token?.proofKey != nil && !body.isComplete && (!body.isReplayable || template.framing == .chunked)
    phase = holdBack ? .awaitingContinue : .sending
    let bodyNow = !holdBack && template.framing != .chunked
    body.withKept { kept in
      stream.send(methodIsHEAD: methodIsHEAD, body: bodyNow ? kept : nil) { output in
        appendHead(token, expectContinue: holdBack, to: &output)
        if !holdBack, template.framing == .chunked { RequestBody.appendChunk(kept, to: &output) }
      }
    }
    if holdBack {
      holdUpload()
      return arm(Self.continueNanoseconds)
    }
    afterBodyStarted(stream)
  }

  private func appendHead(_ token: AccessToken?, expectContinue: Bool, to output: inout ByteBuffer) {
    template.append(to: &output, credentialQuery: token?.queryParameter)
    token?.fieldLine?.withUnsafeBytes { output.append($0) }
    if token?.proofKey != nil {
      output.append("DPoP: ")
      gateway.withProof { output.append($0) }
      output.append("\r\n")
    }
    if expectContinue { output.append("Expect: 100-continue\r\n") }
    output.append("\r\n")
  }

  /// What is kept has gone out: the rest follows as it comes.
  private func afterBodyStarted(_ stream: any UpstreamStream) {
    body.handedOver(budget: gateway.budget)
    if body.isComplete { return endSending(stream) }
    if clientExpectsContinue {
      clientExpectsContinue = false
      client?.respondInterim("HTTP/1.1 100 Continue\r\n\r\n")
    }
    if stream.takesMore { client?.resumeBody() } else { client?.pauseBody() }
  }

  func stream(_ stream: any UpstreamStream, receivedInformational status: UInt16) {
    if status == 100, phase == .awaitingContinue { sendHeldBody() }
  }

  func sendHeldBody() {
    guard let stream else { return }
    clearDeadline()
    phase = .sending
    if template.framing == .chunked {
      body.withKept { kept in _ = stream.sendBody { RequestBody.appendChunk(kept, to: &$0) } }
    } else {
      body.withKept { kept in _ = stream.sendBody(kept) }
    }
    afterBodyStarted(stream)
  }

  func connection(_ connection: ServerConnection, receivedBody bytes: UnsafeRawBufferPointer) {
    trace.requestBytes += UInt64(bytes.count)
    if let route, trace.requestBytes > route.bodyLimitBytes, !uploadAbandoned {
      return refuseBody(.bodyTooLarge, Self.tooLarge)
    }
    switch phase {
    case .delivering where uploadAbandoned: break
    case .sending, .delivering:
      body.receive(bytes, passedOn: true, budget: gateway.budget)
      let drained =
        template.framing == .chunked
        ? stream?.sendBody { RequestBody.appendChunk(bytes, to: &$0) } : stream?.sendBody(bytes)
      if drained == false { connection.pauseBody() }
    case .awaitingToken, .awaitingStream, .awaitingContinue, .peeking, .discarding:
      body.receive(bytes, passedOn: false, budget: gateway.budget)
      holdUpload()
    case .idle, .completing: break
    }
  }

  func connectionReceivedEnd(_ connection: ServerConnection) {
    body.finish()
    if isUpload { forgetUpload() }
    guard let stream, phase == .sending || (phase == .delivering && !uploadAbandoned) else { return }
    endSending(stream)
  }

  func streamDrained(_ stream: any UpstreamStream) {
    if phase == .sending || phase == .delivering { client?.resumeBody() }
  }

  // MARK: 6. Judge

  func stream(
    _ stream: any UpstreamStream, received head: ResponseHead, in bytes: UnsafeRawBufferPointer, fields: FieldTable
  ) {
    clearDeadline()
    guard let route, let token else { return deliver(head, bytes, fields) }
    let mayRefuse = head.status == 401 || head.status == 400
    let challenge =
      mayRefuse
      ? ResponseFacts.challenge(bytes, fields, proofWasSent: token.proofKey != nil) : .bare
    let receipt = learn(
      head, bytes, fields, isRefusal: mayRefuse, isChallenge: challenge == .useDPoPNonce, route)
    guard mayRefuse else { return deliver(head, bytes, fields) }
    let signal = ResponseSignal(
      status: head.status, challenge: challenge, nonceOffer: receipt?.offer ?? .none,
      nonceReplacedByAnotherExchange: receipt?.replacedByAnotherExchange ?? false,
      proofWasSent: token.proofKey != nil, bodyIsReplayable: body.isReplayable || phase == .awaitingContinue,
      tokenIsOld: token.age(bootNanoseconds: SystemTime().bootNanoseconds) >= ResponseSignal.bareRefusalTokenAge)
    if machine.needsBody(signal), ResponseFacts.isJSON(bytes, fields) {
      held.begin(bytes, budget: gateway.budget)
      heldSignal = signal
      phase = .peeking
      arm(Self.discardNanoseconds)
    } else if !isReplayed(signal, bytes) {
      deliver(head, bytes, fields)
    }
  }

  // MARK: 7. Deliver

  func deliver(_ head: ResponseHead, _ bytes: UnsafeRawBufferPointer, _ fields: FieldTable) {
    // What the client still sends of its body may never be read (RFC 9112 §9.6).
    if !body.isComplete {
      clientPersistent = false
      // A hole in the body would let its rest be read as the next request.
      uploadAbandoned = phase != .sending
    }
    phase = .delivering
    body.settle(budget: gateway.budget)
    trace.status = head.status
    switch head.framing {
    case .none: responseFraming = .none
    case .length(let count): responseFraming = .length(count)
    case .chunked, .untilClose: responseFraming = clientMinorVersion == 0 ? .untilClose : .chunked
    }
    if responseFraming == .untilClose { clientPersistent = false }
    responseStarted = true
    if !body.isComplete { client?.beginResponse() }
    client?.respond { output in
      ResponseHeadWriter.append(
        head, in: bytes, fields: fields, framing: responseFraming, clientMinorVersion: clientMinorVersion,
        keepAlive: clientPersistent && !gateway.draining, to: &output)
    }
    // A client may read nothing before it has sent all.
    if uploadAbandoned { client?.resumeBody() }
  }

  func stream(_ stream: any UpstreamStream, receivedBody bytes: UnsafeRawBufferPointer) {
    switch phase {
    case .delivering: deliverBody(bytes)
    case .peeking:
      guard held.append(bytes, within: gateway.budget) else { return deliverHeld(before: bytes) }
      if held.bodyBytes > ResponseSignal.peekBytesMax { judgePeeked() }
    case .discarding(let action):
      guard held.isEmpty || held.append(bytes, within: gateway.budget) else { return deliverHeld(before: bytes) }
      discardedBytes += bytes.count
      if discardedBytes > Self.discardBytesMax {
        stream.cancel()
        replay(action)
      }
    default: break
    }
  }

  func deliverBody(_ bytes: UnsafeRawBufferPointer) {
    guard let client, !bytes.isEmpty else { return }
    trace.responseBytes += UInt64(bytes.count)
    if responseFraming == .chunked {
      // What is at hand may be the rest of it: its end frees the upstream's connection.
      let takesMore = client.respond { RequestBody.appendChunk(bytes, to: &$0) }
      if !takesMore, client.pendingBytes >= LoopScratch.inputBytes { stream?.pauseReading() }
    } else if !client.respond(bytes) {
      stream?.pauseReading()
    }
  }

  func connectionDrained(_ connection: ServerConnection) { stream?.resumeReading() }

  func streamReceivedEnd(_ stream: any UpstreamStream) {
    self.stream = nil
    switch phase {
    case .peeking:
      held.isWhole = true
      judgePeeked()
      if case .discarding(let action) = phase { replay(action) }
    case .discarding(let action):
      held.isWhole = !held.isEmpty
      replay(action)
    case .delivering: finishDelivery()
    default: break
    }
  }

  func streamFailed(_ stream: any UpstreamStream, _ failure: UpstreamFailure) {
    guard stream === self.stream else { return }  // one that was given up already
    self.stream = nil
    switch phase {
    case .discarding(let action): return replay(action)
    case .delivering where client?.retractResponse() == true: answer(failure)
    case .delivering: breakOff(OwnAnswer(failure))
    case .idle, .awaitingToken, .completing: break
    default:
      if failure == .outOfDescriptors, gateway.releaseDescriptors() { return openStream(fresh: true) }
      let mayResend = failure == .closed && !resentAfterClose && (body.isReplayable || phase == .awaitingContinue)
      if mayResend, stream.progress.isResendSafe(methodIsIdempotent: methodIsIdempotent) {
        resentAfterClose = true
        clearDeadline()
        return openStream(fresh: true)
      }
      answer(failure)
    }
  }

  // MARK: 8. One record, whatever happened

  /// The answer is complete. What the kernel has not taken of it may still be lost with the connection: the record waits
  /// until that is known.
  func complete(keepAlive: Bool) {
    phase = .completing
    letGo()
    client?.finishResponse(keepAlive: keepAlive)
  }

  func connectionDelivered(_ connection: ServerConnection) { end() }

  /// The exchange is over: its answer is with the kernel, or will not be.
  func end() {
    guard isOpen else { return }
    isOpen = false
    if phase != .completing { letGo() }
    phase = .idle
    gateway.record(self)
    template.release(to: gateway.scratch.blocks)
    route = nil
    token = nil
  }

  /// Gives back what only an exchange that is still to be answered needs.
  func letGo() {
    leaveWaiting()
    if isUpload { forgetUpload() }
    stream?.cancel()
    stream = nil
    waitGeneration &+= 1
    clearDeadline()
    body.release(budget: gateway.budget)
    held.release(to: gateway.budget)
    responseTrailers.release()
    heldSignal = nil
  }

  func arm(_ nanoseconds: UInt64) {
    let deadline = deadline ?? Deadline(on: gateway.loop, target: self)
    self.deadline = deadline
    deadline.set(after: nanoseconds)
  }

  func clearDeadline() {
    deadline?.clear()
  }
}
