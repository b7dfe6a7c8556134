import COpenSSL
import Glibc

/// One TLS connection over a socket's descriptor (`SSL_set_fd`). Belongs to one thread.
///
/// `StreamSocket` uses it on a loop. A thread with a blocking descriptor may use it alone: no call then says that it
/// must wait.
package final class TLSSession {
  package enum Handshake: Equatable {
    case done, wantsRead, wantsWrite
    case failed(SocketFailure)
  }

  /// Owned; freed in deinit. Keeps its SSL_CTX alive by itself.
  private let ssl: OpaquePointer
  private var broken = false
  private var closeNotifySent = false
  private let sessions: TLSSessionStore?
  private let offersSessions: Bool
  /// Whether the handshake asks to go on from an earlier connection's session.
  package private(set) var hasOfferedSession = false
  /// What one record holds at most. RFC 8446 §5.1
  private static let recordBytes = 16_384
  /// What ended the connection behind bytes that were handed out first.
  private var ending: IOResult?
  /// The last read found no whole record: what is held is the beginning of one.
  private var awaitsRest = false

  /// A client session that accepts only a certificate for `serverName`.
  ///
  /// - Parameters:
  ///   - serverName: a DNS name (sent as SNI, RFC 6066 §3) or a numeric address, matched as RFC 9525 says.
  ///   - sessions: where a session to resume comes from and new ones go; used for this context and name alone.
  ///   - resuming: false for a whole handshake in any case.
  package init(
    client context: TLSContext, serverName: String, sessions: TLSSessionStore? = nil, resuming: Bool = true
  ) {
    // OpenSSL would take no name for any name.
    precondition(!serverName.isEmpty, "a TLS client without the name of its server")
    guard let ssl = SSL_new(context.context) else { preconditionFailure("SSL_new: out of memory") }
    self.ssl = ssl
    self.sessions = sessions
    offersSessions = resuming
    SSL_set_connect_state(ssl)
    let isChecked: Int32
    if SocketAddress(numericHost: serverName, port: 0) != nil {
      isChecked = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), serverName)
    } else {
      SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
      isChecked = SSL_set1_host(ssl, serverName)
      proofd_SSL_set_tlsext_host_name(ssl, serverName)
    }
    precondition(isChecked == 1, "SSL_set1_host: out of memory")
    guard let sessions else { return }
    SSL_set_ex_data(ssl, TLSContext.storeIndex, Unmanaged.passUnretained(sessions).toOpaque())
  }

  /// The server's side of a connection.
  package init(server context: TLSContext) {
    guard let ssl = SSL_new(context.context) else { preconditionFailure("SSL_new: out of memory") }
    self.ssl = ssl
    sessions = nil
    offersSessions = false
    SSL_set_accept_state(ssl)
  }

  deinit { SSL_free(ssl) }

  /// Lends the session a connected socket, which must outlive its use.
  package func attach(_ descriptor: Int32) {
    SSL_set_fd(ssl, descriptor)
    // Not before: a ticket serves once, and this may be the second address that was tried.
    if offersSessions, let session = sessions?.take() {
      hasOfferedSession = SSL_set_session(ssl, session) == 1
      SSL_SESSION_free(session)
    }
  }

  package func handshake() -> Handshake {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    // A resumed session brings the verdict on the certificate that it was made with.
    if result == 1, SSL_is_server(ssl) == 1 || SSL_get_verify_result(ssl) == Int(X509_V_OK) { return .done }
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    default:
      broken = true
      // Whatever it was: the next attempt owes nothing to the past.
      sessions?.removeAll()
      return .failed(.tls(verificationReason ?? failureText))
    }
  }

  /// Whether the handshake went on from an earlier connection's session.
  package var isResumed: Bool { SSL_session_reused(ssl) == 1 }

  /// OpenSSL's words for a certificate it did not accept.
  private var verificationReason: String? {
    let result = SSL_get_verify_result(ssl)
    guard result != Int(X509_V_OK) else { return nil }
    _ = TLSReason.drain()
    return "certificate not accepted: \(String(cString: X509_verify_cert_error_string(result)))"
  }

  private var failureText: String {
    ERR_peek_error() == 0 ? "connection closed during the handshake" : TLSReason.drain()
  }

  /// Reads what one record holds.
  ///
  /// - Parameter buffer: not empty.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
    if let ending { return ending }
    ERR_clear_error()
    let result = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    awaitsRest = false
    if result > 0 { return .moved(Int(result)) }
    let outcome = judge(result)
    awaitsRest = outcome == .wouldBlock
    return outcome
  }

  /// Reads what all records that are here hold, as far as there is room. For a descriptor that does not block: the rest
  /// of a record is asked for.
  ///
  /// - Parameter buffer: not empty.
  package func gather(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
    var filled = 0
    repeat {
      switch read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])) {
      case .moved(let count): filled += count
      case .wouldBlock: return filled > 0 ? .moved(filled) : .wouldBlock
      case let outcome:
        guard filled > 0 else { return outcome }
        ending = outcome
        return .moved(filled)
      }
      // In the middle of much it pays to ask the kernel for more.
    } while filled < buffer.count && (holdsInput || filled >= Self.recordBytes)
    return .moved(filled)
  }

  /// Writes some of `bytes`. After `wouldBlock` the next call must begin with the same bytes.
  ///
  /// - Parameter bytes: not empty.
  package func write(_ bytes: UnsafeRawBufferPointer) -> IOResult {
    ERR_clear_error()
    let result = SSL_write(ssl, bytes.baseAddress, Int32(clamping: bytes.count))
    return result > 0 ? .moved(Int(result)) : judge(result)
  }

  /// Waiting needs no direction: without renegotiation a read waits for bytes and a write for room (a KeyUpdate is
  /// answered by the next write).
  private func judge(_ result: Int32) -> IOResult {
    let savedErrno = errno
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .wouldBlock
    case SSL_ERROR_ZERO_RETURN: return .end
    case SSL_ERROR_SYSCALL:
      broken = true
      return savedErrno == 0 ? .failed(.truncated) : .failed(.system(SocketError("tls", code: savedErrno)))
    default:
      broken = true
      let code = ERR_GET_REASON(ERR_peek_error())
      let reason = TLSReason.drain()
      if code == SSL_R_UNEXPECTED_EOF_WHILE_READING { return .failed(.truncated) }
      return .failed(Self.certificateAlerts.contains(code) ? .certificateRefused(reason) : .tls(reason))
    }
  }

  /// What a peer says of a certificate it was shown, or was not. RFC 8446 §6.2
  private static let certificateAlerts: Set<Int32> = [
    SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED, SSL_R_SSLV3_ALERT_BAD_CERTIFICATE,
    SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE, SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED,
    SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, SSL_R_TLSV1_ALERT_UNKNOWN_CA,
    SSL_R_TLSV1_ALERT_ACCESS_DENIED,
  ]

  /// Whether another read may bring something although the kernel announces nothing. False while only the beginning
  /// of a record is here: its rest will be announced.
  package var hasPending: Bool { ending != nil || (!awaitsRest && SSL_has_pending(ssl) == 1) }

  /// Whether anything came from the socket that `read` has not handed out, be it part of a record.
  package var holdsInput: Bool { ending != nil || SSL_has_pending(ssl) == 1 }

  /// Sends close_notify, once, without waiting for the peer's.
  package func shutdown() {
    // A second call would begin to read.
    guard !broken, !closeNotifySent else { return }
    closeNotifySent = true
    ERR_clear_error()
    SSL_shutdown(ssl)
    ERR_clear_error()
  }
}
