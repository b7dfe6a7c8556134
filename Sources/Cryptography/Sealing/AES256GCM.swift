import COpenSSL

/// Authenticated encryption as it is, for ``SealingKey``. NIST SP 800-38D
enum AES256GCM {
  static let nonceBytes = 12
  static let tagBytes = 16

  /// Writes ciphertext and tag to `output`, which has room for both.
  static func seal(
    _ plaintext: UnsafeRawBufferPointer, key: Secret, nonce: UnsafePointer<UInt8>, data: [UInt8],
    into output: UnsafeMutablePointer<UInt8>
  ) {
    let context = CipherContext()
    var count: Int32 = 0
    OpenSSL.clearErrors()
    let sealed = key.withUnsafeBytes { key in
      key.withNonNullBase { key in
        plaintext.withNonNullBase { plain in
          EVP_EncryptInit_ex2(context.pointer, OpenSSL.aes256GCM.pointer, key, nonce, nil) == 1
            && EVP_EncryptUpdate(context.pointer, nil, &count, data, Int32(data.count)) == 1
            && EVP_EncryptUpdate(context.pointer, output, &count, plain, Int32(plaintext.count)) == 1
            && EVP_EncryptFinal_ex(context.pointer, output + plaintext.count, &count) == 1
            && EVP_CIPHER_CTX_ctrl(
              context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), output + plaintext.count) == 1
        }
      }
    }
    precondition(sealed, "AES-256-GCM failed")  // as the CSPRNG: never on a healthy machine
  }

  /// Writes the plaintext to `output`; false, and what was written is to be thrown away, if the tag does not match.
  ///
  /// - Parameter sealed: as many bytes of ciphertext as `output` has, and the tag.
  static func open(
    _ sealed: UnsafePointer<UInt8>, key: Secret, nonce: UnsafePointer<UInt8>, data: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let context = CipherContext()
    var count: Int32 = 0
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    return key.withUnsafeBytes { key in
      key.withNonNullBase { key in
        output.withNonNullMutableBase { plain in
          EVP_DecryptInit_ex2(context.pointer, OpenSSL.aes256GCM.pointer, key, nonce, nil) == 1
            && EVP_DecryptUpdate(context.pointer, nil, &count, data, Int32(data.count)) == 1
            && EVP_DecryptUpdate(context.pointer, plain, &count, sealed, Int32(output.count)) == 1
            && EVP_CIPHER_CTX_ctrl(  // it only reads
              context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes),
              UnsafeMutablePointer(mutating: sealed + output.count)) == 1
            && EVP_DecryptFinal_ex(context.pointer, plain + output.count, &count) == 1
        }
      }
    }
  }
}
