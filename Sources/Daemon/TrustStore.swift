import EventLoop

/// Whom TLS servers are believed, of one configuration: one context for each set of certificates and each of ours.
struct TrustStore {
  private struct Key: Hashable {
    let file: String?
    let identity: TLSIdentity?
  }

  private var known: [Key: TLSTrust] = [:]

  /// Files that the configuration names are read now, so that a wrong one is an error of the start; the system's when
  /// they are needed.
  ///
  /// - Parameters:
  ///   - file: PEM certificates to trust instead of the system's, or nil.
  ///   - identity: what servers that ask for a certificate are shown.
  ///   - name: whose setting this is, for the error.
  mutating func trust(
    _ file: String?, identity: TLSIdentity? = nil, for name: String
  ) throws(DaemonError) -> TLSTrust {
    let key = Key(file: file, identity: identity)
    if let known = known[key] { return known }
    let trust = TLSTrust(file.map { .file($0) } ?? .system(), identity: identity)
    if file != nil || identity != nil { _ = try Self.context(trust, for: name) }
    known[key] = trust
    return trust
  }

  /// As `trust`, for a peer that surely speaks TLS.
  mutating func context(_ file: String?, for name: String) throws(DaemonError) -> TLSContext {
    try Self.context(trust(file, for: name), for: name)
  }

  private static func context(_ trust: TLSTrust, for name: String) throws(DaemonError) -> TLSContext {
    do throws(TLSConfigurationError) {
      return try trust.context()
    } catch {
      throw .trust(route: name, reason: error.description)
    }
  }
}
