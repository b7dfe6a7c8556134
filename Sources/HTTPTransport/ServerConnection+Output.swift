package import EventLoop
package import HTTPWire

/// Answers on their way: held until the round has been worked on, written, and told when the kernel has them.
extension ServerConnection {
  /// Writes the answer bytes that `compose` appends.
  ///
  /// - Returns: whether there is room for more; when false, stop the source until `connectionDrained`.
  @discardableResult
  package func respond(compose: (inout ByteBuffer) -> Void) -> Bool {
    guard phase != .closed else { return false }
    return settle(output.write(to: socket, compose: compose))
  }

  /// Writes answer bytes without copying many of them.
  ///
  /// - Returns: as `respond(compose:)`.
  @discardableResult
  package func respond(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard phase != .closed else { return false }
    return settle(output.write(bytes, to: socket))
  }

  /// The answer to the request has begun; from here on its body is not waited for any more.
  package func beginResponse() {
    responseBegan = true
    if phase == .body { armWhileAnswering() }
  }

  /// Writes an interim response, such as 100 (RFC 9110 §15.2).
  package func respondInterim(_ head: StaticString) {
    interimBytes += UInt64(head.utf8CodeUnitCount)
    respond { $0.append(head) }
  }

  /// Takes the answer back, as long as the kernel has nothing of it. - Returns: whether another may be given.
  package func retractResponse() -> Bool {
    guard phase != .closed, !isDelivering, output.writtenBytes == 0 || output.writtenBytes == interimBytes else {
      return false
    }
    output.release()
    return true
  }

  /// The answer is complete: `connectionDelivered` follows when the kernel has it, or `connectionClosed`.
  ///
  /// - Parameter keepAlive: false closes the connection when the output is out.
  package func finishResponse(keepAlive: Bool) {
    guard phase != .closed, phase != .lingering else { return }
    isDelivering = true
    let goesOn = keepAlive && requestComplete && phase == .answering && !closeAfterResponse && !draining
    phase = goesOn ? .head : .lingering
    scannedBytes = 0
    bodyPaused = false
    // Also while output waits: a client may take no answer before it has sent all.
    updateReading()
    if output.pendingBytes == 0 { return afterOutput() }
    if output.isBlocked {
      noteUndelivered()
      arm(timeouts.send)
    }
  }

  /// - Returns: whether there is room for more.
  private func settle(_ outcome: OutputQueue.Outcome) -> Bool {
    switch outcome {
    case .drained: return true
    case .held:
      loop.afterWork(writing)
      return true
    case .pending:
      if isDelivering { noteUndelivered() }
      // A body that is being waited for has a limit of its own.
      if phase != .body || bodyPaused || responseBegan { arm(timeouts.send) }
      return false
    case .failed:
      close()
      return false
    }
  }

  func writeHeld() {
    guard phase != .closed, !output.isBlocked else { return }
    guard output.pendingBytes > 0 else {
      if isDelivering { afterOutput() }
      return
    }
    // What follows waits until the others have written, too.
    if settle(output.flush(to: socket)), isDelivering { loop.afterWork(writing) }
  }

  package func socketWritable(_ socket: StreamSocket) {
    guard settle(output.flush(to: socket)) else { return }
    if isDelivering { return afterOutput() }
    switch phase {
    case .answering: clearDeadline()
    case .body: if bodyPaused || responseBegan { clearDeadline() }
    case .head, .lingering, .closed: return
    }
    handler.connectionDrained(self)
  }

  private func noteUndelivered() {
    if undeliveredSince == nil { undeliveredSince = SystemTime.monotonicNanoseconds }
  }

  /// A complete answer is with the kernel.
  private func afterOutput() {
    isDelivering = false
    handler.connectionDelivered(self)
    switch phase {
    case .lingering: linger()
    case .head where consuming: break
    case .head: input.isEmpty ? becomeIdle() : processInput()
    case .body, .answering, .closed: break
    }
  }

  /// Closing with input unread, or still to come from a client that did not ask to close, would reset the connection
  /// and could destroy the answer on its way (RFC 9112 §9.6).
  private func linger() {
    if requestComplete, closeAfterResponse, !socket.hasUnreadBytes { return close() }
    input.release()
    output.release()
    socket.shutdownSending()
    arm(timeouts.linger)
  }
}
