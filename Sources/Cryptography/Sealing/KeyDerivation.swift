import COpenSSL

/// Owns one `EVP_KDF_CTX`, for one derivation.
struct KeyDerivation: ~Copyable {
  private let context: OpaquePointer

  init(name: String) {
    OpenSSL.clearErrors()
    let algorithm = EVP_KDF_fetch(nil, name, nil)
    defer { EVP_KDF_free(algorithm) }  // the context holds a reference of its own
    guard let algorithm, let context = EVP_KDF_CTX_new(algorithm) else { preconditionFailure("OpenSSL lacks \(name)") }
    self.context = context
  }

  deinit { EVP_KDF_CTX_free(context) }

  /// - Parameter call: gives context, passphrase and its length, salt, the room for the key and its length to OpenSSL.
  func derive(
    _ passphrase: Secret, salt: [UInt8], byteCount: Int,
    _ call: (OpaquePointer, UnsafePointer<UInt8>, Int, UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>, Int) -> Int32
  ) throws(CryptographyError) -> Secret {
    precondition(byteCount > 0, "a key has bytes")
    OpenSSL.clearErrors()
    let key = Secret(byteCount: byteCount) { output in
      passphrase.withUnsafeBytes { passphrase in
        passphrase.withNonNullBase { passphraseBase in
          salt.withUnsafeBytes { salt in
            salt.withNonNullBase { saltBase in
              output.withNonNullMutableBase { outputBase in
                call(context, passphraseBase, passphrase.count, saltBase, outputBase, output.count) == 1
              }
            }
          }
        }
      }
    }
    guard let key else { throw OpenSSL.failure(.derive) }
    return key
  }
}
