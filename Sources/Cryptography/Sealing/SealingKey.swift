import COpenSSL

/// A key that seals short secrets: nobody without it can read them, and none can be changed or put in another place
/// without its refusing to open.
///
///     let sealed = key.seal(refreshToken, for: place)
///     let token = try key.open(sealed, for: place)
///
/// A sealed secret is `1 ‖ nonce ‖ ciphertext ‖ tag`: a version byte, 12 random bytes, as many bytes as the secret has, 16
/// bytes. With random nonces one key may seal 2³² times. NIST SP 800-38D §8.2.2, §8.3
package final class SealingKey: Sendable {
  package static let byteCount = 32
  /// What sealing adds to the length of a secret.
  package static let overheadBytes = 1 + nonceBytes + tagBytes

  private static let version: UInt8 = 1
  private static let nonceBytes = 12
  private static let tagBytes = 16

  private let key: Secret

  /// nil unless there are 32 bytes.
  package init?(_ key: Secret) {
    guard key.count == Self.byteCount else { return nil }
    self.key = key
  }

  /// A new key of random bytes.
  package init() { key = Secret(randomBytes: Self.byteCount) }

  /// Seals this key under another, for a place.
  package func sealed(under other: SealingKey, for place: [UInt8]) -> [UInt8] { other.seal(key, for: place) }

  /// Seals a secret so that it opens for the same `place` only.
  ///
  /// - Parameter place: what the sealed bytes belong to; it is authenticated, not stored.
  package func seal(_ secret: Secret, for place: [UInt8]) -> [UInt8] {
    seal(secret, for: place, nonce: SecureRandom.bytes(Self.nonceBytes))
  }

  /// - Throws: ``CryptographyError/sealBroken`` unless this key sealed exactly these bytes for this place.
  package func open(_ sealed: [UInt8], for place: [UInt8]) throws(CryptographyError) -> Secret {
    guard sealed.count >= Self.overheadBytes, sealed[0] == Self.version else { throw .sealBroken }
    let opened = Secret(byteCount: sealed.count - Self.overheadBytes) { output -> Bool in
      sealed.withUnsafeBufferPointer { sealed in
        guard let base = sealed.baseAddress else { return false }
        return decrypt(base + 1, count: output.count, for: place, into: output)
      }
    }
    guard let opened else { throw .sealBroken }
    return opened
  }

  /// The version byte too is authenticated: it stands before the place.
  private func authenticated(_ place: [UInt8]) -> [UInt8] { [Self.version] + place }

  func seal(_ secret: Secret, for place: [UInt8], nonce: [UInt8]) -> [UInt8] {
    precondition(nonce.count == Self.nonceBytes, "a nonce has 96 bits")
    let place = authenticated(place)
    return [UInt8](unsafeUninitializedCapacity: secret.count + Self.overheadBytes) { buffer, initialized in
      guard let base = buffer.baseAddress else { return }
      base[0] = Self.version
      for (index, byte) in nonce.enumerated() { base[1 + index] = byte }
      let text = base + 1 + Self.nonceBytes
      let context = CipherContext()
      var count: Int32 = 0
      OpenSSL.clearErrors()
      let sealed = key.withUnsafeBytes { key in
        secret.withUnsafeBytes { plain in
          key.withNonNullBase { key in
            plain.withNonNullBase { plaintext in
              EVP_EncryptInit_ex2(context.pointer, OpenSSL.aes256GCM.pointer, key, nonce, nil) == 1
                && EVP_EncryptUpdate(context.pointer, nil, &count, place, Int32(place.count)) == 1
                && EVP_EncryptUpdate(context.pointer, text, &count, plaintext, Int32(plain.count)) == 1
                && EVP_EncryptFinal_ex(context.pointer, text + plain.count, &count) == 1
                && EVP_CIPHER_CTX_ctrl(
                  context.pointer, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagBytes), text + plain.count) == 1
            }
          }
        }
      }
      precondition(sealed, "AES-256-GCM failed")  // as the CSPRNG: never on a healthy machine
      initialized = secret.count + Self.overheadBytes
    }
  }

  /// - Parameter sealed: nonce, `count` bytes of ciphertext, tag.
  private func decrypt(
    _ sealed: UnsafePointer<UInt8>, count: Int, for place: [UInt8], into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let place = authenticated(place)
    let text = sealed + Self.nonceBytes
    let context = CipherContext()
    var written: Int32 = 0
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    return key.withUnsafeBytes { key in
      key.withNonNullBase { key in
        output.withNonNullMutableBase { plain in
          EVP_DecryptInit_ex2(context.pointer, OpenSSL.aes256GCM.pointer, key, sealed, nil) == 1
            && EVP_DecryptUpdate(context.pointer, nil, &written, place, Int32(place.count)) == 1
            && EVP_DecryptUpdate(context.pointer, plain, &written, text, Int32(count)) == 1
            && EVP_CIPHER_CTX_ctrl(
              context.pointer, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagBytes), UnsafeMutablePointer(mutating: text + count)
            ) == 1
            && EVP_DecryptFinal_ex(context.pointer, plain + count, &written) == 1
        }
      }
    }
  }
}
