/// A blocking two-way byte stream with one owner thread; TLS fits behind it as well as a bare socket does.
///
/// Only ``interrupt()`` may be called by another thread.
protocol ByteChannel: AnyObject, Sendable {
  /// Waits for bytes and reads some of them; 0 is the peer's orderly end.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(ChannelFailure) -> Int

  /// Writes all of `bytes`.
  func write(_ bytes: UnsafeRawBufferPointer) throws(ChannelFailure)

  /// Lets time pass.
  ///
  /// - Throws: ``ChannelFailure/interrupted`` as soon as somebody interrupts the channel.
  func pause(milliseconds: Int) throws(ChannelFailure)

  /// Whether the peer has ended its direction and nothing of it is unread.
  var hasPeerLeft: Bool { get }

  /// Ends the sending direction in an orderly way; reading goes on.
  func finishSending()

  /// Frees the connection. Unread input makes the kernel send RST instead of FIN, as it does for real servers.
  func close()

  /// Frees the connection with RST whatever is unread.
  func reset()

  /// Makes the owner's current and later calls fail.
  func interrupt()
}

/// Why a channel is of no more use.
enum ChannelFailure: Error, Equatable {
  /// The peer, or the network, is gone.
  case broken
  /// Nothing happened for ``SocketChannel/idleSecondsMax``.
  case idle
  /// The simulation is stopping.
  case interrupted
}
