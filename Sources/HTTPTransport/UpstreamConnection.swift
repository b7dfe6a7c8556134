import EventLoop
import HTTPWire

/// One HTTP/1.1 connection to an upstream, carrying one stream after the other (RFC 9112).
final class UpstreamConnection: UpstreamStream, StreamSocketDelegate, DeadlineTarget {
  enum Phase {
    case connecting
    case idle
    /// The request is being sent and no response head is complete.
    case awaitingHead
    case body
    case closed
  }

  /// Outlives its connections: it counts them.
  unowned(unsafe) let endpoint: UpstreamEndpoint
  let loop: EventLoop
  private let scratch: LoopScratch
  private let fields: FieldTable
  let limits: UpstreamLimits
  var delegate: (any UpstreamStreamDelegate)?
  var socket: StreamSocket?
  /// The one that is being tried, and those behind it.
  var addresses: ArraySlice<SocketAddress> = []
  var lastFailure = UpstreamFailure.unreachable("no address")
  /// When connecting must be over, whichever address is being tried.
  var connectUntil: UInt64 = 0
  /// When the address that is being tried has had its share of that.
  var attemptUntil: UInt64 = 0
  /// A handshake that offered a session did not come to its end: some servers cannot resume what they offered.
  var resumptionFailed = false
  private let deadline: Deadline
  var phase = Phase.connecting
  private var input = ByteBuffer()
  private var output: OutputQueue
  private var scannedBytes = 0
  private var body = BodyReader(.none)
  private var trailers = TrailerBuffer()
  private var methodIsHEAD = false
  // Unretained: see `RoundWork.bind`.
  private let feeding = RoundWork {
    Unmanaged<UpstreamConnection>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.feedArrived() }
  }
  private let writing = RoundWork {
    Unmanaged<UpstreamConnection>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.writeHeld() }
  }
  /// Read in this round, and not looked at yet.
  private var arrived: UnsafeRawBufferPointer?
  /// The last read took all there was room for: there may be more.
  private var readIsFilled = false
  private var persistent = true
  private var requestFinished = false
  private var readingPaused = false
  private(set) var progress = SendProgress(reused: false, wroteBytes: false, receivedBytes: false)

  init(endpoint: UpstreamEndpoint, delegate: any UpstreamStreamDelegate) {
    self.endpoint = endpoint
    self.delegate = delegate
    loop = endpoint.loop
    scratch = endpoint.scratch
    fields = scratch.fields
    output = OutputQueue(blocks: scratch.blocks)
    limits = endpoint.limits
    deadline = Deadline(on: loop)
    deadline.bind(to: self)
    feeding.bind(to: self)
    writing.bind(to: self)
  }

  var isReady: Bool { phase == .idle }
  var isReused: Bool { progress.reused }
  var takesMore: Bool { !output.isBlocked }

  // MARK: Sending

  /// Takes the connection out of idleness for a new stream.
  ///
  /// That the server has closed it, or sent what the request could take for its answer, is looked at again right before
  /// the request goes out: it fails then and may be sent again. Who could not do that looks now, too.
  ///
  /// - Parameter probing: look at what has arrived until now.
  /// - Returns: false when the connection is of no more use; it is closed then.
  func begin(_ delegate: any UpstreamStreamDelegate, probing: Bool) -> Bool {
    if probing, socket?.takesUnexpectedInput() != false {
      close()
      return false
    }
    self.delegate = delegate
    requestFinished = false
    progress = SendProgress(reused: true, wroteBytes: false, receivedBytes: false)
    clearDeadline()
    return true
  }

  func send(methodIsHEAD: Bool, body: UnsafeRawBufferPointer?, compose: (inout ByteBuffer) -> Void) {
    guard phase == .idle, let socket else { return }
    self.methodIsHEAD = methodIsHEAD
    phase = .awaitingHead
    scannedBytes = 0
    hasGivenWay = false
    output.resetCount()
    let body = body ?? UnsafeRawBufferPointer(start: nil, count: 0)
    output.add(compose)
    // What is not held until all that has arrived was heard must look first.
    if progress.reused, output.pendingBytes + body.count > OutputQueue.recordBytes, socket.takesUnexpectedInput() {
      return fail(.closed, later: true)
    }
    _ = settle(output.write(body, to: socket))
  }

  func sendBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let socket, !requestFinished, !writeBroken else { return false }
    return settle(output.write(bytes, to: socket))
  }

  func sendBody(compose: (inout ByteBuffer) -> Void) -> Bool {
    guard let socket, !requestFinished, !writeBroken else { return false }
    return settle(output.write(to: socket, compose: compose))
  }

  func finishSending() {
    requestFinished = true
    armForProgress()
  }

  /// - Returns: whether there is room for more. A write that failed is not the end: the response may have come already
  ///   (an early refusal), so reading decides.
  private func settle(_ outcome: OutputQueue.Outcome) -> Bool {
    if outcome == .held {
      loop.afterWork(writing)
      return true
    }
    if output.writtenBytes > 0 { progress.wroteBytes = true }
    if outcome == .failed {
      output.release()
      persistent = false
      writeBroken = true
    }
    armForProgress()
    return outcome == .drained
  }

  private var writeBroken = false

  private func writeHeld() {
    guard let socket, output.pendingBytes > 0, !output.isBlocked else { return }
    // epoll tells of so many events at a time: what it has not told yet may be no answer to what goes out now.
    if progress.reused, !progress.wroteBytes, socket.takesUnexpectedInput() { return fail(.closed) }
    _ = settle(output.flush(to: socket))
  }

  func socketWritable(_ socket: StreamSocket) {
    if settle(output.flush(to: socket)), phase != .closed { delegate?.streamDrained(self) }
  }

  func pauseReading() {
    readingPaused = true
    socket?.pauseReading()
    if phase == .body { armForProgress() }
  }

  func resumeReading() {
    guard readingPaused else { return }
    readingPaused = false
    socket?.resumeReading()
    if consuming { return }
    if !input.isEmpty, phase != .closed { processInput() }
    if phase == .body { armForProgress() }
  }

  // MARK: Receiving

  func socketReadable(_ socket: StreamSocket) {
    if phase == .awaitingHead, !socket.isSecure, let room = loop.roundInput.room(LoopScratch.inputBytes) {
      switch socket.receive(into: room) {
      case .moved(let count):
        precondition(arrived == nil, "a socket was read twice in a round")
        arrived = loop.roundInput.keep(count)
        readIsFilled = count == room.count
        loop.afterEvents(feeding)
      case .wouldBlock: break
      case .end: ended()
      case .failed(let failure): fail(.reading(failure))
      }
      return
    }
    for _ in 0..<Self.readsPerRound {
      readIsFilled = false
      switch socket.receive(into: scratch.input) {
      case .moved(let count):
        readIsFilled = count == scratch.input.count
        feed(UnsafeRawBufferPointer(rebasing: scratch.input[..<count]))
      case .wouldBlock: return
      case .end: return ended()
      case .failed(let failure): return fail(.reading(failure))
      }
      guard phase != .closed, !readingPaused, readIsFilled || socket.hasPendingInput else { return }
    }
    socket.announcePendingInput()
  }

  /// There may be more than there is room for at once; the other connections must have their turn.
  private static let readsPerRound = 4

  private func feedArrived() {
    guard phase != .closed, let bytes = arrived else { return }
    arrived = nil
    feed(bytes)
  }

  private func ended() {
    if phase == .body, body.endsWithConnection {
      persistent = false
      return complete(endsInput: true)
    }
    fail(.closed)
  }

  private func feed(_ bytes: UnsafeRawBufferPointer) {
    // A byte on an idle connection belongs to no request (response splitting): close.
    if phase == .idle { return fail(.violation(.unexpectedBytes)) }
    // One that came before the request went out is no answer to it either.
    if progress.reused, !progress.wroteBytes { return fail(.closed) }
    progress.receivedBytes = true
    if input.isEmpty {
      let used = consume(bytes)
      if phase != .closed, used < bytes.count {
        input.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(used)))
      }
    } else {
      input.append(bytes)
      processInput()
    }
    if phase == .body { armForProgress() }
  }

  private var hasGivenWay = false
  private var consuming = false
  private var interimCount = 0
  private static let interimMax = 16

  private func processInput() {
    var taken = ByteBuffer()
    swap(&taken, &input)
    let used = taken.withUnsafeBytes { consume($0) }
    taken.consume(used)
    swap(&taken, &input)
    if input.isEmpty { input.release() }
  }

  private func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
    consuming = true
    defer { consuming = false }
    var offset = 0
    while true {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
      switch phase {
      case .awaitingHead:
        guard let used = consumeHead(rest) else { return offset }
        offset += used
      case .body:
        guard !readingPaused, let used = consumeBody(rest) else { return offset }
        offset += used
      case .idle, .connecting, .closed: return bytes.count
      }
    }
  }

  private func consumeHead(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard !bytes.isEmpty else { return nil }
    switch HeadBoundary.find(bytes, scanned: &scannedBytes) {
    case .incomplete:
      if bytes.count > scratch.limits.headBytesMax { fail(.violation(.head(.headTooLarge))) }
      return nil
    case .violation(let violation):
      fail(.violation(.head(violation)))
      return nil
    case .end(let headBytes):
      scannedBytes = 0
      guard headBytes <= scratch.limits.headBytesMax else {
        fail(.violation(.head(.headTooLarge)))
        return nil
      }
      let head = UnsafeRawBufferPointer(rebasing: bytes[..<headBytes])
      switch ResponseHead.parse(head, limits: scratch.limits, fields: fields, requestMethodIsHEAD: methodIsHEAD)
      {
      case .failure(let violation):
        fail(.violation(.head(violation)))
        return nil
      case .success(let parsed): begin(parsed, head, endsInput: headBytes == bytes.count)
      }
      return headBytes
    }
  }

  private func begin(_ head: ResponseHead, _ bytes: UnsafeRawBufferPointer, endsInput: Bool) {
    if head.status < 200 {
      interimCount += 1
      if head.status == 101 { return fail(.violation(.unexpectedSwitch)) }
      if interimCount > Self.interimMax { return fail(.violation(.tooManyInterim)) }
      delegate?.stream(self, receivedInformational: head.status)
      return
    }
    interimCount = 0
    clearDeadline()
    persistent = persistent && head.persistent
    body = BodyReader(head.framing)
    if head.framing == .chunked { trailers.begin(bytes, fields, namesFields: head.connectionNamesFields) }
    phase = .body
    delegate?.stream(self, received: head, in: bytes, fields: fields)
    if phase == .body, head.framing.isEmpty { complete(endsInput: endsInput) }
  }

  private func consumeBody(_ bytes: UnsafeRawBufferPointer) -> Int? {
    switch body.next(bytes) {
    case .payload(let range, let consumed):
      delegate?.stream(self, receivedBody: UnsafeRawBufferPointer(rebasing: bytes[range]))
      // The end is told in the same round, so that head, body and end of a small answer are one write.
      if phase == .body, body.isAtEnd { complete(endsInput: consumed == bytes.count) }
      return consumed
    case .trailer(let range, let consumed):
      trailers.append(UnsafeRawBufferPointer(rebasing: bytes[range]))
      return consumed
    case .needMore(let consumed):
      return consumed == 0 ? nil : consumed
    case .end(let consumed):
      if !trailers.isEmpty, let violation = tellTrailers() {
        fail(.violation(.chunk(violation)))
        return nil
      }
      complete(endsInput: consumed == bytes.count)
      return consumed
    case .violation(let violation):
      fail(.violation(.chunk(violation)))
      return nil
    }
  }

  private func tellTrailers() -> ChunkViolation? {
    trailers.finish(limits: endpoint.scratch.limits, fields: fields) { bytes in
      delegate?.stream(self, receivedTrailers: bytes, fields: fields)
    }
  }

  /// The response is whole: the stream ends, and the connection goes back to the pool if nothing else can arrive on
  /// it that the next request could take for its answer.
  private func complete(endsInput: Bool) {
    guard let delegate else { return close() }
    self.delegate = nil
    if persistent, requestFinished, endsInput, output.pendingBytes == 0, let socket,
      !(socket.holdsInput || readIsFilled) || !socket.takesUnexpectedInput()
    {
      phase = .idle
      release()
    } else {
      close()
    }
    delegate.streamReceivedEnd(self)
  }

  private func release() {
    guard phase == .idle, persistent, endpoint.keep(self) else { return close() }
    readingPaused = false
    socket?.resumeReading()
    input.release()
    output.release()
    trailers.release()
    arm(limits.idleNanoseconds)
  }

  // MARK: Ending

  func cancel() {
    delegate = nil
    close()
  }

  /// - Parameter later: the failure happened inside `openStream`; the delegate hears of it in the next round.
  func fail(_ failure: UpstreamFailure, later: Bool = false) {
    guard phase != .closed else { return }
    close()
    if later {
      // Whoever cancels meanwhile hears nothing.
      loop.nextRound { [self] in tell(failure) }
    } else {
      tell(failure)
    }
  }

  private func tell(_ failure: UpstreamFailure) {
    guard let delegate else { return }
    self.delegate = nil
    delegate.streamFailed(self, failure)
  }

  private func close() {
    guard phase != .closed else { return }
    phase = .closed
    deadline.remove()
    socket?.close()
    socket = nil
    input.release()
    output.release()
    loop.retire(self)
    endpoint.forget(self)
  }

  // MARK: Time

  func arm(_ nanoseconds: UInt64) {
    deadline.set(after: nanoseconds)
  }

  func clearDeadline() {
    deadline.clear()
  }

  /// Times whoever is to move next: the server that takes the request, answers it, or goes on with the answer.
  private func armForProgress() {
    switch phase {
    case .awaitingHead where output.isBlocked, .body where output.isBlocked: arm(limits.sendNanoseconds)
    case .awaitingHead where requestFinished || writeBroken: arm(limits.responseHeadNanoseconds)
    case .body where !readingPaused:
      if let nanoseconds = limits.responseBodyNanoseconds { arm(nanoseconds) } else { clearDeadline() }
    case .awaitingHead, .body: clearDeadline()
    case .connecting, .idle, .closed: break
    }
  }

  private func attemptTimedOut() {
    if retriesWithoutSession() { return }
    let now = SystemTime.monotonicNanoseconds
    if now < attemptUntil { return arm(attemptUntil - now) }  // no session was offered yet
    if addresses.count > 1 { return tryNextAddress(after: .connectTimeout) }
    endpoint.forgetAddresses()
    fail(.connectTimeout)
  }

  func deadlinePassed(_ deadline: Deadline) {
    switch phase {
    case .connecting: attemptTimedOut()
    case .idle: close()
    // It has arrived, and the loop has only not come to it: after a stall.
    case .awaitingHead where !hasGivenWay && socket?.hasUnreadBytes == true:
      hasGivenWay = true
      arm(0)
    default: fail(.responseTimeout)
    }
  }
}

extension UpstreamFailure {
  /// What ended an open connection. A certificate that was not accepted is no accident of this one.
  fileprivate static func reading(_ failure: SocketFailure) -> UpstreamFailure {
    if case .certificateRefused(let reason) = failure {
      .tls("client certificate not accepted: \(reason)")
    } else {
      .closed
    }
  }
}
