import COpenSSL
import Glibc

/// The sessions that one server has offered for resumption, for the next connections to it.
///
/// A resumed handshake shows no certificate: what was verified is what the first one showed. So a store serves exactly
/// one name under one `TLSContext`, and nobody shares it. Belongs to one thread.
///
/// RFC 8446 §2.2, RFC 5077
package final class TLSSessionStore {
  /// A TLS 1.3 server gives two tickets to each connection.
  static let sessionCountMax = 8

  /// Copies of our own, the latest last: OpenSSL spoils a session whose connection ends without close_notify, which TLS
  /// has not asked for since 1.1 (RFC 4346 §7.2.1).
  private var sessions: [OpaquePointer] = []

  package init() {}

  deinit { removeAll() }

  package var count: Int { sessions.count }

  func keep(_ offered: OpaquePointer) {
    guard let session = SSL_SESSION_dup(offered) else { return }
    // Before TLS 1.3 a session may be used again and again: the latest is enough.
    if !Self.isSingleUse(session) { removeAll() }
    if sessions.count == Self.sessionCountMax { SSL_SESSION_free(sessions.removeFirst()) }
    sessions.append(session)
  }

  /// The latest session that may still be offered, as a reference that the caller owns.
  ///
  /// A TLS 1.3 ticket is offered once, so that nobody can tell by it that two connections have one client.
  /// RFC 8446 §C.4
  func take() -> OpaquePointer? {
    while let session = sessions.last {
      guard Self.isUsable(session) else {
        SSL_SESSION_free(sessions.removeLast())
        continue
      }
      if Self.isSingleUse(session) { return sessions.removeLast() }
      return SSL_SESSION_dup(session)
    }
    return nil
  }

  package func removeAll() {
    for session in sessions { SSL_SESSION_free(session) }
    sessions = []
  }

  private static func isSingleUse(_ session: OpaquePointer) -> Bool {
    SSL_SESSION_get_protocol_version(session) >= TLS1_3_VERSION
  }

  /// Neither the session nor the certificate it stands for may have expired.
  private static func isUsable(_ session: OpaquePointer) -> Bool {
    guard SSL_SESSION_is_resumable(session) == 1,
      SSL_SESSION_get_time(session) + SSL_SESSION_get_timeout(session) > time(nil),
      let certificate = SSL_SESSION_get0_peer(session)
    else { return false }
    return X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
  }
}
