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
      EVP_PKEY_generate(context, &generated) == 1, let generated, let jwk = try? publicJWK(of: generated)
    else { preconditionFailure("OpenSSL could not generate a P-256 key") }
    return ProofKey(owning: generated, publicJWK: jwk)
  }

  /// Reads what ``exportPrivate()`` wrote, or any other unencrypted PKCS #8 of a P-256 key.
  ///
  /// - Throws: ``CryptographyError/malformedKey(_:)`` unless it is exactly one P-256 key whose halves belong together.
  ///   RFC 5958 §2, RFC 5915 §3
  package convenience init(pkcs8 der: Secret) throws(CryptographyError) {
    try self.init(owning: Self.decoded(der))
  }

  /// Makes the key from its private number, 32 bytes big-endian: the `d` of a private JWK. RFC 7518 §6.2.2.1
  package convenience init(scalar: Secret) throws(CryptographyError) {
    guard scalar.count == 32 else { throw .malformedKey(.notPrivateKey) }
    // ECPrivateKey { version 1, privateKey, [0] prime256v1 }; OpenSSL computes the public half. RFC 5915 §3
    var der: [UInt8] = [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20]
    der.reserveCapacity(51)
    scalar.withUnsafeBytes { der.append(contentsOf: $0) }
    der += [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]
    defer { der.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
    try self.init(owning: Self.decoded(Secret(der)))
  }

  private convenience init(owning pointer: OpaquePointer) throws(CryptographyError) {
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

  private static func decoded(_ der: Secret) throws(CryptographyError) -> OpaquePointer {
    let key = der.withUnsafeBytes { bytes -> OpaquePointer? in
      OpenSSL.clearErrors()
      defer { OpenSSL.clearErrors() }
      return bytes.withNonNullBase { base in
        var end: UnsafePointer<UInt8>? = base
        guard let key = d2i_AutoPrivateKey(nil, &end, bytes.count) else { return nil }
        if end == base + bytes.count { return key }
        EVP_PKEY_free(key)  // something follows the key
        return nil
      }
    }
    guard let key else { throw .malformedKey(.notPrivateKey) }
    return key
  }

  /// Makes sure that an imported key is P-256 and that its private number is in range and belongs to its point.
  private static func checked(_ pointer: OpaquePointer) throws(CryptographyError) -> JWK {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard EVP_PKEY_is_a(pointer, "EC") == 1, let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else {
      throw .malformedKey(.notPrivateKey)
    }
    defer { EVP_PKEY_CTX_free(context) }
    var group = [CChar](repeating: 0, count: 32)
    guard EVP_PKEY_get_group_name(pointer, &group, group.count, nil) == 1,
      group.prefix(while: { $0 != 0 }).elementsEqual("prime256v1".utf8CString.dropLast()),
      EVP_PKEY_check(context) == 1
    else { throw .malformedKey(.notPrivateKey) }
    return try publicJWK(of: pointer)
  }

  private static func publicJWK(of pointer: OpaquePointer) throws(CryptographyError) -> JWK {
    let x = try coordinate(OSSL_PKEY_PARAM_EC_PUB_X, of: pointer)
    let y = try coordinate(OSSL_PKEY_PARAM_EC_PUB_Y, of: pointer)
    return try JWK(.p256(x: x, y: y))
  }

  /// One coordinate of the public point, left-padded to 32 bytes. RFC 7518 §6.2.1.2
  private static func coordinate(_ name: String, of pointer: OpaquePointer) throws(CryptographyError) -> [UInt8] {
    OpenSSL.clearErrors()
    var number: OpaquePointer?
    guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { throw OpenSSL.failure(.exportKey) }
    defer { BN_free(number) }
    var bytes = [UInt8](repeating: 0, count: 32)
    guard BN_bn2binpad(number, &bytes, 32) == 32 else { throw OpenSSL.failure(.exportKey) }
    return bytes
  }
}
