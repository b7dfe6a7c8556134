import EventLoop

/// From an endpoint's name to an open connection: its addresses one after the other, each with its share of the time.
extension UpstreamConnection {
  func start() {
    arm(limits.connectNanoseconds)
    connectUntil = SystemTime.monotonicNanoseconds &+ limits.connectNanoseconds
    endpoint.addresses { [self] result in
      guard phase == .connecting else { return }
      switch result {
      case .success(let list):
        addresses = list[...]
        tryAddresses()
      case .failure(.notFound(let reason)): fail(.unreachable("name not resolved: \(reason)"), later: true)
      case .failure(.overloaded): fail(.unreachable("too many names wait for resolution"), later: true)
      }
    }
  }

  private func tryAddresses() {
    socket?.close()
    socket = nil
    while let address = addresses.first {
      do throws(SocketError) {
        socket = try StreamSocket(
          loop: loop, connectingTo: address, tls: endpoint.makeSession(resuming: !resumptionFailed),
          delegate: self)
        return armAttempt()
      } catch {
        if error.isOutOfDescriptors { return fail(.outOfDescriptors, later: true) }
        lastFailure = .unreachable(error.description)
        addresses.removeFirst()
      }
    }
    endpoint.forgetAddresses()
    fail(lastFailure, later: true)
  }

  func tryNextAddress(after failure: UpstreamFailure) {
    lastFailure = failure
    addresses.removeFirst()
    tryAddresses()
  }

  /// An address that does not answer leaves time for those behind it, a session that may be offered for a try without.
  private func armAttempt() {
    let now = SystemTime.monotonicNanoseconds
    let share = (connectUntil > now ? connectUntil - now : 0) / UInt64(addresses.count)
    attemptUntil = now &+ share
    arm(endpoint.hasSessions && !resumptionFailed ? share / 2 : share)
  }

  /// Tries the same address once more, if the session that was offered there may be what failed. The session is
  /// forgotten, and those that came with it.
  func retriesWithoutSession() -> Bool {
    guard !resumptionFailed, socket?.hasOfferedSession == true else { return false }
    resumptionFailed = true
    endpoint.forgetSessions()
    tryAddresses()
    return true
  }

  func socketConnected(_ socket: StreamSocket) {
    phase = .idle
    clearDeadline()
    socket.resumeReading()
    delegate?.streamReady(self)
  }

  func socketFailed(_ socket: StreamSocket, _ failure: SocketFailure) {
    if retriesWithoutSession() { return }
    switch failure {
    case .system(let error): tryNextAddress(after: .unreachable(error.description))
    case .tls(let reason), .certificateRefused(let reason): fail(.tls(reason))  // another address would say the same
    case .truncated: tryNextAddress(after: .tls("connection closed during the handshake"))
    }
  }
}
