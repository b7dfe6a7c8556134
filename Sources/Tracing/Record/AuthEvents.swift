/// What became of the authentication of one exchange, in the order it happened.
package struct AuthEvents: Sendable, Equatable {
  package enum Event: UInt8, Sendable, CaseIterable {
    /// The token was in memory and usable.
    case cached = 1
    /// The request waited for a token.
    case refreshed
    /// Sent again because the server asked for another nonce.
    case nonceRetry
    /// Sent again with a new token.
    case tokenRetry
    /// The server asked for another nonce, but the body was gone.
    case nonceNotReplayable
    /// A credential that never changes.
    case `static`
    /// A route without a credential.
    case none

    var name: StaticString {
      switch self {
      case .cached: "cached"
      case .refreshed: "refreshed"
      case .nonceRetry: "nonce_retry"
      case .tokenRetry: "token_retry"
      case .nonceNotReplayable: "nonce_not_replayable"
      case .static: "static"
      case .none: "none"
      }
    }
  }

  /// Four bits per event, the first one lowest, so that a list costs no allocation.
  private var packed: UInt64 = 0

  package init() {}

  package init(_ events: Event...) {
    for event in events { append(event) }
  }

  package var isEmpty: Bool { packed == 0 }

  package var count: Int { (64 - packed.leadingZeroBitCount + 3) / 4 }

  /// Notes one more event. After 16, far more than four sends can cause, further ones are left out.
  package mutating func append(_ event: Event) {
    let count = count
    guard count < 16 else { return }
    packed |= UInt64(event.rawValue) << UInt64(count * 4)
  }

  /// Calls `body` with each event in order.
  package func forEach(_ body: (Event) -> Void) {
    var rest = packed
    while let event = Event(rawValue: UInt8(rest & 15)) {
      body(event)
      rest >>= 4
    }
  }
}
