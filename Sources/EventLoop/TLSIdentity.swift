import COpenSSL

/// A certificate chain and its private key, by which one side of a TLS connection shows who it is. RFC 8446 §4.4.2
package struct TLSIdentity: Sendable, Hashable {
  /// PEM, the own certificate first.
  package let certificateChainFile: String
  /// PEM, without a passphrase.
  package let privateKeyFile: String

  package init(certificateChainFile: String, privateKeyFile: String) {
    self.certificateChainFile = certificateChainFile
    self.privateKeyFile = privateKeyFile
  }

  /// Makes `context` show it.
  ///
  /// - Throws: `TLSConfigurationError`; also if the key is another certificate's.
  func load(into context: OpaquePointer) throws(TLSConfigurationError) {
    ERR_clear_error()
    guard SSL_CTX_use_certificate_chain_file(context, certificateChainFile) == 1 else {
      throw .unreadable(file: certificateChainFile, reason: TLSReason.drain())
    }
    var isEncrypted = false
    let isLoaded = withUnsafeMutablePointer(to: &isEncrypted) { isEncrypted in
      // Without an answer OpenSSL would ask for the passphrase on the terminal.
      SSL_CTX_set_default_passwd_cb(context) { _, _, _, isEncrypted in
        isEncrypted?.assumingMemoryBound(to: Bool.self).pointee = true
        return 0
      }
      // Lent to this one call.
      SSL_CTX_set_default_passwd_cb_userdata(context, isEncrypted)
      defer { SSL_CTX_set_default_passwd_cb_userdata(context, nil) }
      return SSL_CTX_use_PrivateKey_file(context, privateKeyFile, SSL_FILETYPE_PEM) == 1
    }
    guard !isLoaded else { return }
    let isAnothers = ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH
    let reason = TLSReason.drain()
    if isEncrypted { throw .encryptedKey(file: privateKeyFile) }
    if isAnothers { throw .keyMismatch(certificate: certificateChainFile, key: privateKeyFile) }
    throw .unreadable(file: privateKeyFile, reason: reason)
  }
}
