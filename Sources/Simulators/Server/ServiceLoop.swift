import HTTPWire

/// Serves one connection of a simulated server: request after request, in order.
struct ServiceLoop<Service: SimulatedService>: Sendable {
  let service: Service
  let state: SimulationState

  func serve(_ channel: any ByteChannel, _ number: Int) {
    let connection = BlockingConnection(channel: channel, number: number)
    var next = ConnectionFate.open
    do {
      while next == .open, let head = try connection.nextHead() {
        var exchange = SimulatedExchange(service: service, state: state, connection: connection, head: head)
        next = try exchange.run()
      }
      if next == .closeGracefully { connection.closeGracefully() }
    } catch {
      if case .malformed(let violation) = error { refuse(violation, connection) }
    }
  }

  /// What can't be read can't be answered well either: the connection ends. RFC 9112 §2.2
  private func refuse(_ violation: HeadViolation, _ connection: BlockingConnection) {
    let status = violation.tooLarge ? 431 : 400
    let sequence = state.journal.open(service.role, connection: connection.number, nil)
    state.journal.update(sequence) {
      $0.verdict = .malformed
      $0.detail = "\(violation.detail)"
      $0.status = status
      $0.isFinished = true
    }
    let writer = AnswerWriter(connection: connection, request: nil, date: state.date(at: service.role))
    // If the answer can't be written either, the peer is gone.
    _ = try? writer.write(.text(status, "\(violation.detail)"))
    connection.closeGracefully()
  }
}

/// What becomes of a connection after an exchange.
enum ConnectionFate {
  case open
  case closeGracefully
  /// It is closed already.
  case closed
}

extension SimulationState {
  /// The `Date` of an answer. RFC 9110 §6.6.1
  func date(at role: Role) -> String {
    var text = ByteBuffer()
    HTTPDate.append(unixSeconds: now(at: role), to: &text)
    return String(decoding: text.copy(), as: UTF8.self)
  }
}
