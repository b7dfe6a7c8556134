import COpenSSL

/// The key derivation of passphrases of other programs' files, with HMAC-SHA-256. RFC 8018 §5.2
package enum PBKDF2 {
  /// As many iterations take some seconds; a file that asks for more is not read.
  package static let iterationsMax = 10_000_000

  /// - Throws: ``CryptographyError/algorithmRefused`` if the iterations are not 1 to ``iterationsMax``.
  package static func derive(
    _ passphrase: Secret, salt: [UInt8], iterations: Int, byteCount: Int = SealingKey.byteCount
  ) throws(CryptographyError) -> Secret {
    guard (1...iterationsMax).contains(iterations) else { throw .algorithmRefused }
    return try KeyDerivation(name: "PBKDF2").derive(passphrase, salt: salt, byteCount: byteCount) {
      proofd_pbkdf2_sha256($0, $1, $2, $3, salt.count, UInt64(iterations), $4, $5)
    }
  }
}
