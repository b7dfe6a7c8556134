package import EventLoop
import HTTPWire

/// The server's side of one HTTP/1.1 connection (RFC 9112): framing, order, backpressure, time limits. It decides
/// nothing about the requests.
package final class ServerConnection: StreamSocketDelegate, DeadlineTarget {
  enum Phase {
    /// Between requests or inside a head.
    case head
    /// A request's body is arriving.
    case body
    /// Nothing more of the request is wanted, the answer is not complete.
    case answering
    /// Nothing more will be answered; input is thrown away until the client closes.
    case lingering
    case closed
  }

  package let loop: EventLoop
  /// Who serves the requests. It lives as long as the connection, which it does not retain.
  let handler: any ServerConnectionHandler
  private let scratch: LoopScratch
  private let fields: FieldTable
  var timeouts: ServerTimeouts
  let socket: StreamSocket
  var input = ByteBuffer()
  var output: OutputQueue
  var phase = Phase.head
  private var body = BodyReader(.none)
  private var trailers = TrailerBuffer()
  var scannedBytes = 0
  private var lingeredBytes: UInt64 = 0
  var bodyPaused = false
  var consuming = false
  /// False while more of the request may come, and for one that was broken off.
  var requestComplete = true
  var closeAfterResponse = false
  var draining = false
  private let deadline: Deadline
  /// Looks after a client that is not read, and whose leaving no event tells; made when that is first the case.
  private var watch: Deadline?
  /// The answer has begun: a client may stop sending a body that was answered early, and is not timed for it.
  var responseBegan = false
  /// The answer is complete, and some of it not with the kernel yet.
  var isDelivering = false
  /// Since when the kernel has not taken the rest of a complete answer, in `CLOCK_MONOTONIC` nanoseconds.
  package internal(set) var undeliveredSince: UInt64?
  /// Bytes of this answer's interim responses (1xx).
  var interimBytes: UInt64 = 0
  // Unretained: see `RoundWork.bind`.
  private let feeding = RoundWork {
    Unmanaged<ServerConnection>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.feedArrived() }
  }
  let writing = RoundWork {
    Unmanaged<ServerConnection>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.writeHeld() }
  }
  /// Read in this round, and not looked at yet.
  private var arrived: UnsafeRawBufferPointer?
  /// Told when the connection is gone, so that its list can forget it.
  package var whenClosed: ((ServerConnection) -> Void)?

  /// Bytes a client may send ahead of its turn before it is no longer read.
  private static let aheadBytesMax = LoopScratch.headReadBytes
  private static let lingerBytesMax: UInt64 = 256 << 20
  /// How often a client that is not read is looked after.
  private static let watchNanoseconds: UInt64 = 1_000_000_000

  package init(
    loop: EventLoop, descriptor: Int32, scratch: LoopScratch, timeouts: ServerTimeouts,
    handler: any ServerConnectionHandler
  ) {
    self.loop = loop
    deadline = Deadline(on: loop)
    self.scratch = scratch
    fields = scratch.fields
    output = OutputQueue(blocks: scratch.blocks)
    self.timeouts = timeouts
    self.handler = handler
    socket = StreamSocket(loop: loop, accepted: descriptor)
    feeding.bind(to: self)
    writing.bind(to: self)
    socket.delegate = self
    deadline.bind(to: self)
    arm(timeouts.head)
    socket.resumeReading()
  }

  package var isClosed: Bool { phase == .closed }
  /// The connection's descriptor, for asking the kernel about the peer; -1 when closed.
  package var descriptor: Int32 { socket.descriptor }
  package var pendingBytes: Int { output.pendingBytes }
  /// Whether nothing is going on: safe to close when the process drains.
  package var isIdle: Bool {
    phase == .head && !consuming && input.isEmpty && arrived == nil && output.pendingBytes == 0
  }
  /// Since when nothing has been going on, in `CLOCK_MONOTONIC` nanoseconds; nil unless it waits for a request.
  package var idleSince: UInt64? {
    guard isIdle, !headArmed else { return nil }
    return deadline.at &- (hasServed ? timeouts.idle : timeouts.head)
  }
  private var hasServed = false

  // MARK: What handlers call

  /// Stops taking body bytes from the client: the upstream is slower.
  package func pauseBody() {
    bodyPaused = true
    guard phase == .body else { return }
    updateReading()
    armWhileAnswering()
  }

  package func resumeBody() {
    guard bodyPaused else { return }
    bodyPaused = false
    guard phase == .body else { return }
    armForBody()
    updateReading()
    if !consuming, !input.isEmpty { processInput() }
  }

  /// Finishes the current exchange, if any, and then closes. The rest of a head is waited for shortly.
  package func drain() {
    draining = true
    timeouts.shortenHead()
    if !closeIfIdle(), phase == .head, headArmed { arm(timeouts.head) }
  }

  /// Closes unless a request is under way, or has arrived and was not read yet. - Returns: whether it did.
  package func closeIfIdle() -> Bool {
    guard isIdle, !socket.hasUnreadBytes else { return false }
    close()
    return true
  }

  /// Closes at once; what the kernel does not take now is lost.
  package func close() { end(abortively: false) }

  /// Closes so that the client cannot take what it got for the whole answer, unless it is.
  package func abort() { end(abortively: !isDelivering) }

  /// An end that loses some of an answer is never a clean one: the client could take what it got for all.
  private func end(abortively: Bool) {
    guard phase != .closed else { return }
    var abortively = abortively
    if !abortively, output.pendingBytes > 0 {
      abortively = output.isBlocked || output.flush(to: socket) != .drained
    }
    if !abortively, isDelivering {
      isDelivering = false
      handler.connectionDelivered(self)
    }
    phase = .closed
    deadline.remove()
    watch?.remove()
    abortively ? socket.closeAbortively() : socket.close()
    loop.retire(self)
    handler.connectionClosed(self)
    whenClosed?(self)
    whenClosed = nil
  }

  // MARK: Input

  package func socketConnected(_ socket: StreamSocket) {}
  package func socketFailed(_ socket: StreamSocket, _ failure: SocketFailure) { close() }

  package func socketReadable(_ socket: StreamSocket) {
    let room = phase == .head || phase == .answering ? loop.roundInput.room(LoopScratch.headReadBytes) : nil
    switch socket.receive(into: room ?? UnsafeMutableRawBufferPointer(rebasing: scratch.input[..<readBytes])) {
    case .moved(let count) where room != nil:
      precondition(arrived == nil, "a socket was read twice in a round")
      arrived = loop.roundInput.keep(count)
      loop.afterEvents(feeding)
    case .moved(let count): feed(UnsafeRawBufferPointer(rebasing: scratch.input[..<count]))
    case .wouldBlock: break
    // A client that ends its sending side has left: whether it still reads cannot be known.
    case .end, .failed: close()
    }
  }

  private func feedArrived() {
    guard phase != .closed, let bytes = arrived else { return }
    arrived = nil
    feed(bytes)
  }

  /// What is read may have to be kept: no more than the phase can use.
  private var readBytes: Int {
    switch phase {
    case .head, .answering: LoopScratch.headReadBytes
    case .body: scratch.bodyReadBytes
    case .lingering, .closed: LoopScratch.inputBytes
    }
  }

  private func feed(_ bytes: UnsafeRawBufferPointer) {
    if phase == .lingering {
      lingeredBytes += UInt64(bytes.count)
      if lingeredBytes > Self.lingerBytesMax { close() }
      return
    }
    if input.isEmpty {
      let used = consume(bytes)
      if phase != .closed, used < bytes.count {
        input.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(used)))
      }
      afterInput()
    } else {
      input.append(bytes)
      processInput()
    }
  }

  func processInput() {
    // Taken out while it is read: a handler may come back to this connection.
    var taken = ByteBuffer()
    swap(&taken, &input)
    let used = taken.withUnsafeBytes { consume($0) }
    taken.consume(used)
    swap(&taken, &input)
    afterInput()
  }

  private func afterInput() {
    switch phase {
    case .head where input.isEmpty: becomeIdle()
    case .lingering, .closed: input.release()
    default: updateReading()
    }
  }

  /// Nothing has come of a next request.
  func becomeIdle() {
    guard phase == .head, output.pendingBytes == 0 else { return }
    if draining, arrived == nil, !socket.hasUnreadBytes {
      return close()
    } else {
      input.release()
      output.release()
      trailers.release()
      headArmed = false
      arm(timeouts.idle)
    }
    updateReading()
  }

  /// Reads exactly when what arrives can be used, or kept within bounds.
  func updateReading() {
    let isWanted =
      switch phase {
      case .head: output.pendingBytes == 0 || input.count <= Self.aheadBytesMax
      case .answering: input.count <= Self.aheadBytesMax
      case .body: !bodyPaused
      case .lingering: true
      case .closed: false
      }
    if isWanted {
      socket.resumeReading()
      watch?.clear()
    } else {
      socket.pauseReading()
      watchClient()
    }
  }

  /// - Returns: how many bytes are done with.
  private func consume(_ bytes: UnsafeRawBufferPointer) -> Int {
    consuming = true
    defer { consuming = false }
    var offset = 0
    while true {
      let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
      switch phase {
      case .head:
        // A client that pipelines and does not read gets no further answers queued.
        guard output.pendingBytes == 0, let used = consumeHead(rest) else { return offset }
        offset += used
      case .body:
        guard !bodyPaused, let used = consumeBody(rest) else { return offset }
        offset += used
      case .answering: return offset
      case .lingering, .closed: return bytes.count
      }
    }
  }

  /// - Returns: bytes used; nil when more must come.
  private func consumeHead(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard !bytes.isEmpty else { return nil }
    // One empty line before a request is tolerated (RFC 9112 §2.2).
    if scannedBytes == 0, bytes[0] == 0x0D, !skippedEmptyLine {
      if bytes.count == 1 {
        armHead()
        return nil
      }
      if bytes[1] == 0x0A {
        skippedEmptyLine = true
        return 2
      }
    }
    switch HeadBoundary.find(bytes, scanned: &scannedBytes) {
    case .incomplete:
      if bytes.count > scratch.limits.headBytesMax { violate(.headTooLarge) } else { armHead() }
      return nil
    case .violation(let violation):
      violate(violation)
      return nil
    case .end(let headBytes):
      guard headBytes <= scratch.limits.headBytesMax else {
        violate(.headTooLarge)
        return nil
      }
      let head = UnsafeRawBufferPointer(rebasing: bytes[..<headBytes])
      switch RequestHead.parse(head, limits: scratch.limits, fields: fields) {
      case .failure(let violation): violate(violation)
      case .success(let parsed): begin(parsed, head)
      }
      return headBytes
    }
  }

  private var skippedEmptyLine = false
  private var headArmed = false
  private var hasGivenWay = false

  private func armHead() {
    guard !headArmed else { return }
    headArmed = true
    arm(timeouts.head)
  }

  private func begin(_ head: RequestHead, _ bytes: UnsafeRawBufferPointer) {
    scannedBytes = 0
    skippedEmptyLine = false
    headArmed = false
    hasGivenWay = false
    hasServed = true
    closeAfterResponse = !head.persistent
    responseBegan = false
    output.resetCount()
    interimBytes = 0
    undeliveredSince = nil
    body = BodyReader(head.framing)
    if head.framing == .chunked { trailers.begin(bytes, fields, namesFields: head.connectionNamesFields) }
    bodyPaused = false
    requestComplete = head.framing.isEmpty
    if requestComplete {
      phase = .answering
      clearDeadline()
    } else {
      phase = .body
      armForBody()
    }
    handler.connection(self, received: head, in: bytes, fields: fields)
  }

  private func consumeBody(_ bytes: UnsafeRawBufferPointer) -> Int? {
    switch body.next(bytes) {
    case .payload(let range, let consumed):
      armForBody()
      handler.connection(self, receivedBody: UnsafeRawBufferPointer(rebasing: bytes[range]))
      if phase == .body, body.isAtEnd { endBody() }
      return consumed
    case .trailer(let range, let consumed):
      trailers.append(UnsafeRawBufferPointer(rebasing: bytes[range]))
      return consumed
    case .needMore(let consumed):
      return consumed == 0 ? nil : consumed
    case .end(let consumed):
      if !trailers.isEmpty, let violation = tellTrailers() { return violate(violation) }
      if phase == .body { endBody() }
      return consumed
    case .violation(let violation): return violate(violation)
    }
  }

  private func tellTrailers() -> ChunkViolation? {
    trailers.finish(limits: scratch.limits, fields: fields) { bytes in
      handler.connection(self, receivedTrailers: bytes, fields: fields)
    }
  }

  private func violate(_ violation: ChunkViolation) -> Int? {
    giveUpRequest()
    handler.connection(self, violated: violation)
    return nil
  }

  private func endBody() {
    phase = .answering
    requestComplete = true
    armWhileAnswering()
    handler.connectionReceivedEnd(self)
  }

  private func violate(_ violation: HeadViolation) {
    giveUpRequest()
    handler.connection(self, violated: violation)
  }

  /// Nothing more of the request is looked at; the handler answers it.
  private func giveUpRequest() {
    requestComplete = false
    closeAfterResponse = true
    phase = .answering
    armWhileAnswering()
  }

  // MARK: Time

  func arm(_ nanoseconds: UInt64) { deadline.set(after: nanoseconds) }
  func clearDeadline() { deadline.clear() }

  /// The next byte of the body is waited for, unless the answer has begun: then only the client's reading counts.
  private func armForBody() {
    if responseBegan { armWhileAnswering() } else { arm(timeouts.body) }
  }

  /// While an answer is made only a client that does not take it is timed.
  func armWhileAnswering() {
    if output.isBlocked { arm(timeouts.send) } else { clearDeadline() }
  }

  /// No event tells of a client that leaves while it is not read.
  private func watchClient() {
    guard phase != .closed else { return }
    let watch = watch ?? Deadline(on: loop, target: self)
    self.watch = watch
    if !watch.isSet { watch.set(after: Self.watchNanoseconds) }
  }

  /// Whether what was waited for has arrived, and the loop has only not come to it: after a stall, such as a machine that
  /// slept. Once for each wait.
  private func givesWay() -> Bool {
    guard !hasGivenWay, phase == .head || phase == .body, socket.hasUnreadBytes else { return false }
    hasGivenWay = true
    return true
  }

  package func deadlinePassed(_ deadline: Deadline) {
    guard deadline !== watch else { return socket.peerHasLeft ? close() : watchClient() }
    if givesWay() { return arm(0) }
    switch phase {
    case .head where output.pendingBytes > 0 || (input.isEmpty && !headArmed): close()
    case .body where bodyPaused || responseBegan: close()
    case .head, .body:
      if draining, phase == .head { timeouts.linger = min(timeouts.linger, timeouts.head) }
      giveUpRequest()
      handler.connectionTimedOut(self)
    case .answering, .lingering: close()
    case .closed: break
    }
  }
}
