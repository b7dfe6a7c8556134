import COpenSSL

/// A private key that a client signs assertions with: RSA of 2048 bits or more, P-256 or Ed25519.
///
/// The private part stays inside OpenSSL, which zeroes it, and never leaves.
package final class SigningKey: @unchecked Sendable {  // an EVP_PKEY is not changed after creation, its count is atomic
  package static let textBytesMax = 65_536

  let pointer: OpaquePointer
  package let publicJWK: JWK
  /// The `kid` of a JWK; a PEM has none. RFC 7517 §4.5
  package let keyID: String?

  /// What it can sign with; the first is the usual one for keys of its kind.
  package var algorithms: [JWSAlgorithm] { JWSAlgorithm.allCases.filter { $0.fits(publicJWK.material) } }

  /// Reads a private key as PEM (PKCS #8, PKCS #1 or SEC 1) or as a JWK.
  ///
  /// - Throws: ``CryptographyError/malformedKey(_:)``; also for a key under a passphrase, and for one whose private part
  ///   does not belong to its public part. RFC 7468 §10, RFC 7517, RFC 7518 §6
  package convenience init(parsing text: Secret) throws(CryptographyError) {
    guard text.count <= Self.textBytesMax else { throw .malformedKey(.tooLarge) }
    if text.withUnsafeBytes({ $0.first { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D } == UInt8(ascii: "{") })
    {
      let key = try PrivateJWK.parse(text)
      try self.init(owning: key.pointer, stated: key.publicJWK, keyID: key.keyID)
    } else {
      try self.init(owning: PEMPrivateKey.parse(text), stated: nil, keyID: nil)
    }
  }

  private init(owning pointer: OpaquePointer, stated: JWK?, keyID: String?) throws(CryptographyError) {
    do throws(CryptographyError) {
      publicJWK = try PrivateKeyImport.checkedJWK(of: pointer)
      if let stated, stated != publicJWK { throw CryptographyError.malformedKey(.halvesDiffer) }
    } catch {
      EVP_PKEY_free(pointer)
      throw error
    }
    self.pointer = pointer
    self.keyID = keyID
  }

  deinit { EVP_PKEY_free(pointer) }
}
