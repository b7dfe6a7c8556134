import COpenSSL

/// A private P-256 key: the one a DPoP grant is bound to, or the one an authorization server signs with.
///
/// The private part stays inside OpenSSL, which zeroes it; it leaves only through ``exportPrivate()``.
package final class ProofKey: @unchecked Sendable {  // an EVP_PKEY is not changed after creation, its count is atomic
  let pointer: OpaquePointer

  package let publicJWK: JWK

  /// `jkt`, 43 characters. RFC 7638 §3
  package var thumbprint: String { publicJWK.thumbprint }

  /// A new key. Ends the process if OpenSSL can't make one, as ``SecureRandom`` does.
  package static func generate() -> ProofKey {
    OpenSSL.clearErrors()
    guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { preconditionFailure("OpenSSL lacks EC keys") }
    defer { EVP_PKEY_CTX_free(context) }
    var generated: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
      EVP_PKEY_generate(context, &generated) == 1, let generated,
      let jwk = try? PrivateKeyImport.publicJWK(of: generated)
    else { preconditionFailure("OpenSSL could not generate a P-256 key") }
    return ProofKey(owning: generated, publicJWK: jwk)
  }

  /// Reads what ``exportPrivate()`` wrote, or any other unencrypted PKCS #8 of a P-256 key.
  ///
  /// - Throws: ``CryptographyError/malformedKey(_:)`` unless it is exactly one P-256 key whose halves belong together.
  ///   RFC 5958 §2, RFC 5915 §3
  package convenience init(pkcs8 der: Secret) throws(CryptographyError) {
    guard let key = der.withUnsafeBytes({ PrivateKeyImport.key($0, form: .pkcs8) }) else {
      throw .malformedKey(.notPrivateKey)
    }
    try self.init(owning: key)
  }

  /// Makes the key from its private number, 32 bytes big-endian: the `d` of a private JWK. RFC 7518 §6.2.2.1
  package convenience init(scalar: Secret) throws(CryptographyError) {
    guard let key = scalar.withUnsafeBytes({ PrivateKeyDER.p256($0) }) else { throw .malformedKey(.notPrivateKey) }
    try self.init(owning: key)
  }

  /// Takes `pointer` over, whether or not it is a key of ours.
  convenience init(owning pointer: OpaquePointer) throws(CryptographyError) {
    do {
      self.init(owning: pointer, publicJWK: try Self.checked(pointer))
    } catch {
      EVP_PKEY_free(pointer)
      throw error
    }
  }

  private init(owning pointer: OpaquePointer, publicJWK: JWK) {
    self.pointer = pointer
    self.publicJWK = publicJWK
  }

  deinit { EVP_PKEY_free(pointer) }

  /// The private key as unencrypted PKCS #8, for sealing. RFC 5958 §2
  package func exportPrivate() throws(CryptographyError) -> Secret {
    OpenSSL.clearErrors()
    guard let info = EVP_PKEY2PKCS8(pointer) else { throw OpenSSL.failure(.exportKey) }
    defer { PKCS8_PRIV_KEY_INFO_free(info) }
    var der: UnsafeMutablePointer<UInt8>?
    let count = Int(i2d_PKCS8_PRIV_KEY_INFO(info, &der))
    guard count > 0, let der else { throw OpenSSL.failure(.exportKey) }
    defer { CRYPTO_clear_free(der, count, #fileID, #line) }
    return Secret(UnsafeRawBufferPointer(start: der, count: count))
  }

  /// Makes sure that an imported key is P-256 and that its private number is in range and belongs to its point.
  private static func checked(_ pointer: OpaquePointer) throws(CryptographyError) -> JWK {
    // Whatever is wrong, it is no key of ours.
    guard let jwk = try? PrivateKeyImport.checkedJWK(of: pointer), case .p256 = jwk.material else {
      throw .malformedKey(.notPrivateKey)
    }
    return jwk
  }
}
