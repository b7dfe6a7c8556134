import COpenSSL

/// HMAC with SHA-256. RFC 2104
package enum HMACSHA256 {
  /// The 32-byte authentication code of `message`.
  package static func authenticate(_ message: UnsafeRawBufferPointer, key: Secret) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: SHA256.byteCount) { buffer, initialized in
      let code = key.withUnsafeBytes { keyBytes in
        // A null key would mean "the key set before", so an empty one needs an address.
        keyBytes.withNonNullBase { keyBase in
          message.withNonNullBase { messageBase in
            OpenSSL.clearErrors()
            return EVP_Q_mac(
              nil, "HMAC", nil, "SHA256", nil, keyBase, keyBytes.count, messageBase, message.count,
              buffer.baseAddress, SHA256.byteCount, &initialized)
          }
        }
      }
      precondition(code != nil && initialized == SHA256.byteCount, "HMAC-SHA256 failed")
    }
  }
}
