/// What one exchange with a protected resource may still send after an answer that refused it. Pure.
///
/// S is the first send, N a replay for a nonce challenge, R a replay after the token was replaced. These sequences and no
/// others are possible, so an exchange is four sends at most, whatever the server says:
/// `S`, `S N`, `S R`, `S N R`, `S R N`, `S N R N`, and `S N N`, the last only if another exchange replaced the nonce after
/// the replay was signed.
/// RFC 9449 §8, §9, RFC 6750 §3.1
package struct ReplayMachine: Sendable {
  /// The sends so far.
  private enum Sent: Sendable {
    case s, sn, sr, snr, srn, snrn, snn
  }
  private var sent = Sent.s

  package init() {}

  package static let sendsMax = 4

  /// How many times the request was sent, the replay that was just decided on included.
  package var sendCount: Int {
    switch sent {
    case .s: 1
    case .sn, .sr: 2
    case .snr, .srn, .snn: 3
    case .snrn: 4
    }
  }

  /// The last send carried, or is to carry, a token that was fetched because the one before was refused.
  package var tokenWasReplaced: Bool {
    switch sent {
    case .s, .sn, .snn: false
    case .sr, .snr, .srn, .snrn: true
    }
  }

  /// Whether the body has to be looked at before ``judge(_:)``: some resource servers name the challenge only there.
  ///
  /// Look at no more than ``ResponseSignal/peekBytesMax`` bytes, and only if the response says that they are JSON.
  /// - Parameter signal: with ``ResponseSignal/bodyDemandsNonce`` still false.
  package func needsBody(_ signal: ResponseSignal) -> Bool {
    signal.challenge == .bare && signal.hasNonceStatus && signal.proofWasSent && signal.nonceOffer == .new
      && signal.bodyIsReplayable && afterNonce(replaced: signal.nonceReplacedByAnotherExchange) != nil
  }

  /// Judges an answer and, if it may be answered with another send, counts that send.
  ///
  /// After ``ReplayAction/refreshThenReplay`` the token source still has its say (`TokenSource.refused`); if it declines
  /// or has no other token, the answer is delivered as it is and this machine is done.
  package mutating func judge(_ signal: ResponseSignal) -> ReplayAction {
    if signal.demandsNonce { return judgeNonce(signal) }
    if signal.refusesToken { return judgeToken(signal) }
    return .deliver(.final)
  }

  private mutating func judgeNonce(_ signal: ResponseSignal) -> ReplayAction {
    guard signal.nonceOffer == .new else { return .deliver(.nonceMissing) }
    guard let next = afterNonce(replaced: signal.nonceReplacedByAnotherExchange) else { return .deliver(.nonceRefused) }
    guard signal.bodyIsReplayable else { return .deliver(.nonceNotReplayable) }
    sent = next
    return .replayWithNonce
  }

  private mutating func judgeToken(_ signal: ResponseSignal) -> ReplayAction {
    if tokenWasReplaced { return .deliver(.freshTokenRefused) }
    guard signal.challenge == .invalidToken || signal.tokenIsOld else { return .deliver(.final) }
    guard let next = afterToken else { return .deliver(.final) }
    guard signal.bodyIsReplayable else { return .deliver(.tokenNotReplayable) }
    sent = next
    return .refreshThenReplay
  }

  /// Where a nonce challenge leads; nil if the exchange has had its share.
  private func afterNonce(replaced: Bool) -> Sent? {
    switch sent {
    case .s: .sn
    case .sr: .srn
    case .snr: .snrn
    case .sn: replaced ? .snn : nil
    case .srn, .snrn, .snn: nil
    }
  }

  /// Where the refusal of a token leads.
  private var afterToken: Sent? {
    switch sent {
    case .s: .sr
    case .sn: .snr
    case .sr, .snr, .srn, .snrn, .snn: nil
    }
  }
}

/// What to do with an answer, and what to note in the record.
package enum ReplayAction: Sendable, Equatable {
  case deliver(DeliverReason)
  /// Send again with the nonce of the cell; recorded as `nonce_retry`.
  case replayWithNonce
  /// Replace the token, then send again; recorded as `token_retry`.
  case refreshThenReplay
}

/// Why an answer is the one the caller gets.
package enum DeliverReason: Sendable, Equatable {
  /// It asks for nothing that another send could give.
  case final
  /// A nonce is wanted, but no new one was given: worth a warning that names the server.
  case nonceMissing
  /// A nonce is wanted again after a replay that had the right one.
  case nonceRefused
  /// A replay with the new nonce would help, but the body is gone; recorded as `nonce_not_replayable`.
  case nonceNotReplayable
  /// The token is refused, but the body is gone. The token is still worth replacing for the next request.
  case tokenNotReplayable
  /// Even the token that was fetched for the replay is refused: tell the token source (`afterRefresh: true`).
  case freshTokenRefused
}
