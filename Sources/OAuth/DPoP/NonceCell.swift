import Locking

/// The most recent nonce of one server in one role, for one account. Any thread.
///
/// An authorization server and a resource server never share a cell, even at one origin: their nonces are different things.
/// Every response feeds the cell, the retried and the successful ones too. RFC 9449 §8, §8.2, §9
package final class NonceCell: Sendable {
  private struct State {
    var sends: UInt64 = 0
    var nonce: NonceValue?
    /// The send whose response brought `nonce`.
    var broughtBy: UInt64 = 0
    /// The newest send that had a say; answers to older ones come late and are not believed.
    var newestSend: UInt64 = 0
  }
  private let state = Protected(State())

  package init() {}

  /// Takes a place in the order of sends, and the nonce the proof of this send has to carry.
  ///
  /// Once a server gave a nonce, no proof goes to it without one. RFC 9449 §11.3
  package func beginSend() -> NonceSend {
    state.withLock {
      $0.sends += 1
      return NonceSend(sequence: $0.sends, nonce: $0.nonce)
    }
  }

  /// Takes the nonce of a response.
  ///
  /// Call it for every response. Of an exchange whose challenge is only seen in the body it may be called twice, first
  /// without and then with `isChallenge`.
  /// - Parameters:
  ///   - nonce: the value of the one `DPoP-Nonce` field; nil if there is none, or more than one, which is malformed.
  ///   - send: what ``beginSend()`` returned for the request that was answered.
  ///   - isChallenge: the response refused the proof for its nonce; then it is believed even if it comes late.
  package func receive(_ nonce: UnsafeRawBufferPointer?, for send: NonceSend, isChallenge: Bool) -> NonceReceipt {
    state.withLock { state in
      let replaced = state.broughtBy != send.sequence && state.nonce != send.nonce
      guard let nonce, NonceValue.isLegal(nonce) else {
        return NonceReceipt(offer: .none, replacedByAnotherExchange: replaced)
      }
      let repeated = send.nonce?.equals(nonce) == true
      if isChallenge || send.sequence >= state.newestSend {
        if state.nonce?.equals(nonce) != true {
          state.nonce = NonceValue(nonce)
          state.broughtBy = send.sequence
        }
        state.newestSend = max(state.newestSend, send.sequence)
      }
      return NonceReceipt(offer: repeated ? .sameAsSent : .new, replacedByAnotherExchange: replaced)
    }
  }

  /// Starts from a nonce that was kept with the grant; one that came meanwhile wins.
  package func seed(_ nonce: NonceValue) {
    state.withLock { if $0.nonce == nil { $0.nonce = nonce } }
  }

  package var current: NonceValue? { state.withLock { $0.nonce } }
}

/// One send's place in the order of sends to a server, and the nonce it carries.
package struct NonceSend: Sendable {
  package let sequence: UInt64
  package let nonce: NonceValue?
}

/// What the `DPoP-Nonce` of a response means for the exchange that received it.
package struct NonceReceipt: Sendable, Equatable {
  package enum Offer: Sendable {
    /// There was none, or one that is not legal.
    case none
    /// The one the request carried: another try with it would end the same way.
    case sameAsSent
    case new
  }
  package let offer: Offer
  /// Between this send and this receipt the response of another exchange changed the nonce.
  package let replacedByAnotherExchange: Bool

  package init(offer: Offer, replacedByAnotherExchange: Bool) {
    self.offer = offer
    self.replacedByAnotherExchange = replacedByAnotherExchange
  }
}
