import Configuration

/// How many client connections there are descriptors for: each may need a second one for its upstream.
struct ConnectionFit {
  let connections: Int
  /// What to tell the user when that is less than configured.
  let warning: String?

  /// Log, control socket, secrets, name look-ups and the like.
  private static let reserve = 64
  /// Of a loop: its queue of events, its mailbox, its look-up of peers, and a listener for each address.
  private static let perLoop = 4

  /// - Parameter descriptors: what the process may have open.
  init(_ configuration: Configuration, descriptors: Int) {
    let wanted = configuration.limits.connectionsMax
    let loops = configuration.threads
    let others = Self.reserve + loops * (Self.perLoop + configuration.listen.count)
    let fitting = max(1, (descriptors - others) / 2)
    connections = min(wanted, fitting)
    // The default promises nothing, unless little is left of it.
    let expected = wanted == Limits().connectionsMax ? wanted / 2 : wanted
    warning =
      expected <= fitting
      ? nil
      : """
      limits.connections is \(wanted), but the system allows \(descriptors) open files: \(connections) connections are \
      taken; raise the hard limit of open files (ulimit -Hn, LimitNOFILE=) to at least \(2 * wanted + others)
      """
  }
}
