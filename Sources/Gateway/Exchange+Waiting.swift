import Credentials
import EventLoop

/// Waiting for a token: among a limited number of others, for a limited time, with a limited part of the body.
extension Exchange {
  /// Waits for a token, at most the route's `token_timeout`.
  ///
  /// - Parameter token: one that was refused, for which another is wanted.
  func waitForToken(replacing token: AccessToken? = nil) {
    guard let route, let tokens = route.tokens else { return }
    phase = .awaitingToken
    hasWaited = true
    waitGeneration &+= 1
    arm(route.tokenTimeoutNanoseconds)
    let bound = LoopBound(self, on: gateway.loop)
    let generation = waitGeneration
    let waiter: TokenSource.Waiter = { result in bound.post { $0.tokenArrived(result, generation) } }
    if let token {
      waitingPlace = tokens.acquire(replacing: token, waiter: waiter)
    } else {
      waitingPlace = tokens.acquire(waiter: waiter)
    }
    guard let place = waitingPlace else { return holdUpload() }  // the answer is on its way
    guard gateway.shared.waiting.enter() else {
      waitingPlace = nil
      tokens.leave(place)
      clearDeadline()
      // As when there is no better token than the one that was refused.
      if held.isWhole { return deliverHeld() }
      return answer(.overloaded, "Too many requests wait for a token.", retryAfterSeconds: Self.overloadedSeconds)
    }
    holdUpload()
  }

  /// What a client is told to wait that came at a limit.
  static let overloadedSeconds = 1

  /// Waits no longer, whatever came of it.
  func leaveWaiting() {
    guard let place = waitingPlace else { return }
    waitingPlace = nil
    route?.tokens?.leave(place)
    gateway.shared.waiting.leave()
  }

  private func tokenArrived(_ result: Result<AccessToken, TokenFailure>, _ generation: UInt64) {
    guard phase == .awaitingToken, generation == waitGeneration else { return }
    leaveWaiting()
    clearDeadline()
    switch result {
    case .success(let token):
      let isReplacement = self.token != nil
      self.token = token
      trace.auth.append(isReplacement ? .tokenRetry : route?.isStatic == true ? .static : .refreshed)
      held.release(to: gateway.budget)
      openStream()
    case .failure(let failure):
      // Nothing better than the token that was refused: the upstream's own answer says it best.
      held.isWhole ? deliverHeld() : answer(failure)
    }
  }
}
