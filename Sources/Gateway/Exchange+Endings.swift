import Credentials
import EventLoop
import HTTPTransport
import HTTPWire

/// The sad ways an exchange ends: refused, timed out, left alone. Errors become answers here and in `OwnAnswer` only.
extension Exchange {
  func connection(_ connection: ServerConnection, violated violation: HeadViolation) {
    resetRequest()
    answer(violation.tooLarge ? .headTooLarge : .badRequest, "\(violation.detail)")
  }

  func connection(_ connection: ServerConnection, violated violation: ChunkViolation) {
    refuseBody(.badRequest, "\(violation.detail)")
  }

  func connectionTimedOut(_ connection: ServerConnection) {
    if phase == .idle { resetRequest() }
    refuseBody(.requestTimeout, "The rest of the request did not arrive in time.")
  }

  static let tooLarge = "The body is larger than the route allows."

  func refuseBody(_ code: OwnAnswer, _ detail: String) {
    clientPersistent = false
    if responseStarted, client?.retractResponse() != true { breakOff(code) } else { answer(code, detail) }
  }

  /// The answer that has begun cannot be completed: the client must not take it for whole.
  func breakOff(_ code: OwnAnswer) {
    trace.error = code
    let client = client
    end()
    client?.abort()
  }

  /// Forgets the request before: of the one that is refused nothing is known.
  private func resetRequest() {
    trace = ExchangeTrace(startMonotonic: SystemTime.monotonicNanoseconds)
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    template.note(method: nothing, target: nothing, pool: gateway.scratch.blocks)
    route = nil
    methodIsHEAD = false
    clientPersistent = false
    clientNavigates = false
    responseStarted = false
    isOpen = true
    body.begin(.none, limitBytes: 0)
  }

  func deadlinePassed(_ deadline: Deadline) {
    switch phase {
    case .awaitingToken:
      leaveWaiting()
      // As when there is no better token than the one that was refused.
      if held.isWhole { return deliverHeld() }
      answer(.tokenUnavailable, "No token arrived in time; the attempt goes on.", retryAfterSeconds: 1)
    case .awaitingContinue: sendHeldBody()
    case .peeking: judgePeeked()
    case .discarding(let action):
      stream?.cancel()
      replay(action)
    default: break
    }
  }

  /// Answers in the upstream's place and ends the exchange.
  func answer(_ code: OwnAnswer, _ detail: String, retryAfterSeconds: Int? = nil) {
    stream?.cancel()
    stream = nil
    trace.error = code
    trace.status = code.status
    trace.responseBytes = 0
    let keepAlive =
      clientPersistent && body.isComplete && code != .badRequest && code != .callerUnknown && !gateway.draining
    client?.respond { output in
      code.append(
        to: &output, detail: detail, html: clientNavigates, keepAlive: keepAlive, headOnly: methodIsHEAD,
        retryAfterSeconds: retryAfterSeconds)
    }
    complete(keepAlive: keepAlive)
  }

  func connectionClosed(_ connection: ServerConnection) {
    if isOpen {
      trace.clientLeft = true
      end()
    }
    deadline?.remove()
    client = nil
  }

  func answer(_ failure: TokenFailure) {
    switch failure {
    case .unavailable(let detail, let retryAfterSeconds):
      answer(.tokenUnavailable, detail, retryAfterSeconds: retryAfterSeconds)
    case .refused(let detail): answer(.tokenRefused, detail)
    case .loginRequired(let detail): answer(.loginRequired, detail)
    case .locked(let detail): answer(.locked, detail)
    }
  }

  func answer(_ failure: UpstreamFailure) {
    let detail =
      switch failure {
      case .unreachable(let reason): "No connection to the upstream: \(reason)."
      case .outOfDescriptors: "No file descriptor is left for a connection to the upstream."
      case .tls(let reason): "TLS to the upstream failed: \(reason)."
      case .connectTimeout: "No connection to the upstream in time."
      case .responseTimeout: "The upstream did not answer in time."
      case .closed: "The upstream closed the connection before its answer was whole."
      case .violation(let violation): "\(violation.detail)"
      }
    answer(OwnAnswer(failure), detail, retryAfterSeconds: failure == .outOfDescriptors ? Self.overloadedSeconds : nil)
  }
}

extension OwnAnswer {
  /// What a failed upstream exchange is called, whether or not the client could still be told.
  init(_ failure: UpstreamFailure) {
    self =
      switch failure {
      case .unreachable: .upstreamUnreachable
      case .outOfDescriptors: .overloaded
      case .tls: .upstreamTLS
      case .connectTimeout, .responseTimeout: .upstreamTimeout
      case .closed: .upstreamClosed
      case .violation: .upstreamProtocol
      }
  }
}
