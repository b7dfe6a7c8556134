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

  /// A client session that accepts only a certificate for `serverName`.
  ///
  /// - Parameters:
  ///   - serverName: a DNS name (sent as SNI, RFC 6066 §3) or a numeric address, matched as RFC 9525 says.
  package init(client context: TLSContext, serverName: String) {
    // OpenSSL would take no name for any name.
    precondition(!serverName.isEmpty, "a TLS client without the name of its server")
    guard let ssl = SSL_new(context.context) else { preconditionFailure("SSL_new: out of memory") }
    self.ssl = ssl
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
  }

  /// The server's side of a connection.
  package init(server context: TLSContext) {
    guard let ssl = SSL_new(context.context) else { preconditionFailure("SSL_new: out of memory") }
    self.ssl = ssl
    SSL_set_accept_state(ssl)
  }

  deinit { SSL_free(ssl) }

  /// Lends the session a connected socket, which must outlive its use.
  package func attach(_ descriptor: Int32) { SSL_set_fd(ssl, descriptor) }

  package func handshake() -> Handshake {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    if result == 1 { return .done }
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: return .wantsRead
    case SSL_ERROR_WANT_WRITE: return .wantsWrite
    default:
      broken = true
      return .failed(.tls(verificationReason ?? failureText))
    }
  }

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

  /// - Parameter buffer: not empty.
  package func read(into buffer: UnsafeMutableRawBufferPointer) -> IOResult {
    ERR_clear_error()
    let result = SSL_read(ssl, buffer.baseAddress, Int32(clamping: buffer.count))
    return result > 0 ? .moved(Int(result)) : judge(result)
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
      let unexpectedEnd = ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING
      let reason = TLSReason.drain()
      return .failed(unexpectedEnd ? .truncated : .tls(reason))
    }
  }

  /// Bytes read from the socket that `read` has not handed out (records may be whole or in part).
  package var hasPending: Bool { SSL_has_pending(ssl) == 1 }

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
