/// How much of the log may wait in memory, and where.
package struct LogLimits: Sendable {
  /// Lines not yet written, in bytes. Beyond it lines are dropped and counted; a loop never waits.
  package var backlogBytesMax = 8 << 20
  /// Lines kept for `tail -n`.
  package var ringLinesMax = 1_000
  /// The same in bytes, whichever is reached first.
  package var ringBytesMax = 1 << 20
  /// Lines waiting for one subscriber, in bytes. Beyond it that subscriber, and no other, misses lines.
  package var subscriberBytesMax = 1 << 20
  /// The most a subscriber is given at once, in bytes.
  package var deliveryBytesMax = 256 << 10

  package init() {}

  /// The part of the backlog that a blocked output cannot take from the ring and the subscribers.
  var liveBytesMax: Int { backlogBytesMax / 8 }
}
