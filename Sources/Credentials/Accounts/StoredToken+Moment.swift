import EventLoop

extension StoredToken {
  /// When it was received, in terms of this start of the machine; nil if the clocks can't tell.
  func received(at now: Moment, bootID: String) -> Moment? {
    if !bootID.isEmpty, bootID == self.bootID {
      return Moment(wallNanoseconds: receivedAtWallNanoseconds, bootNanoseconds: receivedAtBootNanoseconds)
    }
    // The boot clock began anew. A wall clock before the receipt was set back, and nobody knows by how much.
    let (elapsed, overflow) = now.wallNanoseconds.subtractingReportingOverflow(receivedAtWallNanoseconds)
    guard !overflow, elapsed >= 0 else { return nil }
    return Moment(
      wallNanoseconds: receivedAtWallNanoseconds, bootNanoseconds: now.bootNanoseconds.subtractingSaturated(elapsed))
  }
}
