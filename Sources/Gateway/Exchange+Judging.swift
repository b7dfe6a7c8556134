import Credentials
import EventLoop
import HTTPWire
import OAuth

/// What a refused response teaches, and whether the request may be sent again (design §4.6).
extension Exchange {
  /// Takes the next nonce and the server's clock from every response, refused ones too (RFC 9449 §8.2, §9).
  func learn(
    _ head: ResponseHead, _ bytes: UnsafeRawBufferPointer, _ fields: FieldTable, isRefusal: Bool, isChallenge: Bool,
    _ route: GatewayRoute
  ) -> NonceReceipt? {
    guard let nonceSend, let nonces = route.nonces else { return nil }
    let now = SystemTime.monotonicNanoseconds
    if isRefusal || gateway.mayLearnClock(of: route, now: now),
      let date = ResponseFacts.dateUnixSeconds(bytes, fields, nowUnixSeconds: sentAtWall / 1_000_000_000)
    {
      route.skew?.observe(
        ClockSample(
          dateUnixSeconds: date, roundTripNanoseconds: Int64(now - sentAtMonotonic),
          receivedWallNanoseconds: SystemTime().wallNanoseconds))
    }
    return nonces.receive(ResponseFacts.nonce(bytes, fields), for: nonceSend, isChallenge: isChallenge)
  }

  /// - Parameter head: what to keep in case no better token can be had; nil if it is held already.
  /// - Returns: whether the answer is not delivered because the request is sent again.
  func isReplayed(_ signal: ResponseSignal, _ head: UnsafeRawBufferPointer?) -> Bool {
    guard let token, let tokens = route?.tokens else { return false }
    let action = machine.judge(signal)
    switch action {
    case .deliver(.nonceNotReplayable):
      trace.auth.append(.nonceNotReplayable)
      return false
    case .deliver(.freshTokenRefused):
      _ = tokens.refused(token, afterRefresh: true)
      return false
    case .deliver(.tokenNotReplayable):
      // Too late for this request; the next one finds a new token.
      if tokens.refused(token, afterRefresh: false) { tokens.acquire(replacing: token) { _ in } }
      return false
    case .deliver: return false
    case .refreshThenReplay:
      guard tokens.refused(token, afterRefresh: false) else { return false }
      if let head { held.begin(head, budget: gateway.budget) }
    case .replayWithNonce: held.release(to: gateway.budget)
    }
    phase = .discarding(action)
    discardedBytes = 0
    arm(Self.discardNanoseconds)
    return true
  }

  /// The body that was waited for is here, or as much of it as is looked at.
  func judgePeeked() {
    guard var signal = heldSignal else { return }
    heldSignal = nil
    if ChallengeClassifier.bodyDemandsNonce(held.withBody { Array($0) }) {
      signal.bodyDemandsNonce = true
      held.withHead { bytes in
        if case .success = parseHeld(bytes), let nonceSend, let nonces = route?.nonces {
          _ = nonces.receive(
            ResponseFacts.nonce(bytes, gateway.scratch.fields), for: nonceSend, isChallenge: true)
        }
      }
    }
    if !isReplayed(signal, nil) { deliverHeld() }
  }

  private func parseHeld(_ bytes: UnsafeRawBufferPointer) -> Result<ResponseHead, HeadViolation> {
    ResponseHead.parse(
      bytes, limits: gateway.scratch.limits, fields: gateway.scratch.fields, requestMethodIsHEAD: methodIsHEAD)
  }

  /// Delivers what was held; whole answers end here, others go on as what follows arrives.
  func deliverHeld() {
    let isWhole = held.isWhole
    var response = HeldResponse()
    swap(&response, &held)
    response.withHead { bytes in
      if case .success(let head) = parseHeld(bytes) { deliver(head, bytes, gateway.scratch.fields) }
    }
    response.withBody { deliverBody($0) }
    response.release(to: gateway.budget)
    if isWhole { finishDelivery() }
  }

  /// There is no room to hold more of a refused response: it is delivered as it comes, and nothing is sent again.
  func deliverHeld(before bytes: UnsafeRawBufferPointer) {
    clearDeadline()
    heldSignal = nil
    // Too late for this request; the next one finds a new token.
    if case .discarding = phase, let token { route?.tokens?.acquire(replacing: token) { _ in } }
    deliverHeld()
    if phase == .delivering { deliverBody(bytes) }
  }

  /// A replay is due and the refused response is out of the way.
  func replay(_ action: ReplayAction) {
    clearDeadline()
    if !held.isWhole { held.release(to: gateway.budget) }  // it can't be delivered any more
    stream = nil
    guard action == .refreshThenReplay, let token else {
      trace.auth.append(.nonceRetry)
      return openStream()
    }
    waitForToken(replacing: token)
  }
}
