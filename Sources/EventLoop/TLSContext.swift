import COpenSSL
import Glibc

/// Why a TLS configuration cannot be used.
package enum TLSConfigurationError: Error, Sendable, CustomStringConvertible {
  case unreadable(file: String, reason: String)
  /// A private key under a passphrase.
  case encryptedKey(file: String)
  /// The private key is another certificate's.
  case keyMismatch(certificate: String, key: String)
  case openSSL(String)

  package var description: String {
    switch self {
    case .unreadable(let file, let reason): "\(file): \(reason)"
    case .encryptedKey(let file): "\(file): the private key is under a passphrase, and only one without can be read"
    case .keyMismatch(let certificate, let key):
      "\(key): the private key does not belong to the certificate in \(certificate)"
    case .openSSL(let reason): reason
    }
  }
}

/// What all TLS connections to one kind of peer share: trust anchors or certificate, versions, modes.
///
/// Thread-safe: OpenSSL counts references to an SSL_CTX atomically, and it is not changed after init.
package final class TLSContext: @unchecked Sendable {  // SSL_CTX is immutable after init and reference-counted
  let context: OpaquePointer
  /// Where a connection's session store is found: OpenSSL leaves index 0 of the extra data to applications.
  static let storeIndex: Int32 = 0
  /// Room for four whole records of TLS 1.3 (22 bytes around 16 KiB) and OpenSSL's alignment: one read of the kernel
  /// then brings what fills a reader's 64 KiB, and no part of a fifth that would take a read of its own.
  private static let readBufferBytes = 4 * (16_384 + 22) + 3

  /// For connections out, whose peer's certificate must lead to one of `anchors`.
  ///
  /// - Parameter identity: what a peer that asks for a certificate is shown; nil for none.
  /// - Throws: `TLSConfigurationError` when they cannot be read.
  package init(trusting anchors: TrustAnchors, identity: TLSIdentity? = nil) throws(TLSConfigurationError) {
    context = try Self.make(TLS_client_method())
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    try anchors.load(into: context)
    try identity?.load(into: context)
    // ALPN: http/1.1 (RFC 7301; wire form, length first).
    let protocols: [UInt8] = [8] + Array("http/1.1".utf8)
    SSL_CTX_set_alpn_protos(context, protocols, UInt32(protocols.count))
    SSL_CTX_set_quiet_shutdown(context, 0)
    // Sessions go to the store of the connection they come on, never to OpenSSL's, which knows no names.
    proofd_SSL_CTX_set_session_cache_mode(context, Int(SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL))
    SSL_CTX_sess_set_new_cb(context) { ssl, session in
      // Unretained: the connection's TLSSession holds the store.
      guard let session, let store = SSL_get_ex_data(ssl, TLSContext.storeIndex) else { return 0 }
      Unmanaged<TLSSessionStore>.fromOpaque(store)._withUnsafeGuaranteedRef { $0.keep(session) }
      return 0  // no reference was kept
    }
  }

  /// For connections in.
  ///
  /// - Parameter clients: whose certificates clients have to show; nil to ask for none.
  /// - Throws: `TLSConfigurationError`.
  package init(serving identity: TLSIdentity, clients: TrustAnchors? = nil) throws(TLSConfigurationError) {
    context = try Self.make(TLS_server_method())
    try identity.load(into: context)
    guard let clients else { return }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    try clients.load(into: context)
    // Sessions of clients that were verified are resumed under a name only.
    let name = Array("proofd".utf8)
    SSL_CTX_set_session_id_context(context, name, UInt32(name.count))
  }

  deinit { SSL_CTX_free(context) }

  private static func make(_ method: OpaquePointer?) throws(TLSConfigurationError) -> OpaquePointer {
    ERR_clear_error()
    guard let context = SSL_CTX_new(method) else { throw .openSSL(TLSReason.drain()) }
    proofd_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
    // A write that was cut short may go on from another buffer, and takes what it can.
    proofd_SSL_CTX_set_mode(
      context, Int(SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS))
    proofd_SSL_CTX_set_read_ahead(context, 1)
    proofd_SSL_CTX_set_default_read_buffer_len(context, readBufferBytes)
    // A read then never has to write, nor a write to read, once the handshake is over.
    SSL_CTX_set_options(context, proofd_SSL_OP_NO_RENEGOTIATION)
    return context
  }
}

enum TLSReason {
  /// Empties OpenSSL's error queue of this thread and names its oldest entry, the cause.
  static func drain() -> String {
    let code = ERR_get_error()
    while ERR_get_error() != 0 {}
    guard code != 0 else { return "unknown error" }
    // ERR_SYSTEM_FLAG: errno of a file that cannot be opened, say, which OpenSSL 3 has no words for.
    if code > UInt(Int32.max) { return String(cString: strerror(ERR_GET_REASON(code))) }
    guard let reason = ERR_reason_error_string(code) else { return "error \(code)" }
    return String(cString: reason)
  }
}
