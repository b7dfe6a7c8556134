/// The steps of a refresh, in order, so that a test can stop the process at each. What is durable after each step is what
/// a restart finds.
package enum RefreshStep: String, Sendable, CaseIterable {
  /// Nobody else refreshes this grant now.
  case leased
  /// The store says that the refresh token is about to be sent.
  case intended
  /// The request is handed to the transport.
  case sending
  /// The answer is in memory and nowhere else.
  case answered
  /// The answer is in the transaction that is not committed yet.
  case storing
  /// The answer is durable.
  case stored
  /// Those who waited have the token.
  case released
}
