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
  package static let overheadBytes = 1 + AES256GCM.nonceBytes + AES256GCM.tagBytes

  private static let version: UInt8 = 1

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
    let nonce = SecureRandom.bytes(AES256GCM.nonceBytes)
    return [UInt8](unsafeUninitializedCapacity: secret.count + Self.overheadBytes) { buffer, initialized in
      guard let base = buffer.baseAddress else { return }
      base[0] = Self.version
      (base + 1).initialize(from: nonce, count: nonce.count)
      secret.withUnsafeBytes {
        AES256GCM.seal($0, key: key, nonce: nonce, data: authenticated(place), into: base + 1 + nonce.count)
      }
      initialized = secret.count + Self.overheadBytes
    }
  }

  /// - Throws: ``CryptographyError/sealBroken`` unless this key sealed exactly these bytes for this place.
  package func open(_ sealed: [UInt8], for place: [UInt8]) throws(CryptographyError) -> Secret {
    guard sealed.count >= Self.overheadBytes, sealed[0] == Self.version else { throw .sealBroken }
    let opened = Secret(byteCount: sealed.count - Self.overheadBytes) { output -> Bool in
      sealed.withUnsafeBufferPointer { sealed in
        guard let nonce = sealed.baseAddress.map({ $0 + 1 }) else { return false }
        return AES256GCM.open(
          nonce + AES256GCM.nonceBytes, key: key, nonce: nonce, data: authenticated(place), into: output)
      }
    }
    guard let opened else { throw .sealBroken }
    return opened
  }

  /// The version byte is authenticated too.
  private func authenticated(_ place: [UInt8]) -> [UInt8] { [Self.version] + place }
}
