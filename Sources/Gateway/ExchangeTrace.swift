import Tracing

/// What an exchange notes for its log record as it goes.
struct ExchangeTrace {
  var startMonotonic: UInt64 = 0
  var firstSentMonotonic: UInt64 = 0
  var status: UInt16 = 0
  var requestBytes: UInt64 = 0
  var responseBytes: UInt64 = 0
  var attempts = 0
  var reused = false
  var auth = AuthEvents()
  /// Set when the gateway answered, or broke the answer off.
  var error: OwnAnswer?
  var clientLeft = false

  init() {}
  init(startMonotonic: UInt64) { self.startMonotonic = startMonotonic }
}
