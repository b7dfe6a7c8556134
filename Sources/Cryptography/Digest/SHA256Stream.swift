import COpenSSL

/// SHA-256 over bytes that arrive in pieces. Not for the hot path; belongs to one thread. FIPS 180-4
package final class SHA256Stream {
  private let context: OpaquePointer

  /// Ends the process if OpenSSL can't make a context: memory is out then.
  package init() {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex2(context, OpenSSL.sha256.pointer, nil) == 1 else {
      preconditionFailure("SHA-256 failed")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  package func update(_ bytes: UnsafeRawBufferPointer) {
    let updated = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    precondition(updated == 1, "SHA-256 failed")
  }

  /// The 32 bytes of the digest; the stream starts again from nothing.
  package func finish() -> [UInt8] {
    let digest = [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { buffer, initialized in
      let finished = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
      precondition(finished == 1, "SHA-256 failed")
      initialized = SHA256.byteCount
    }
    let restarted = EVP_DigestInit_ex2(context, OpenSSL.sha256.pointer, nil)
    precondition(restarted == 1, "SHA-256 failed")
    return digest
  }
}
