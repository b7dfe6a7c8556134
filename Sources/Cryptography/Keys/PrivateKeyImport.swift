import COpenSSL

/// Private keys on their way into OpenSSL, and what is known of them there.
enum PrivateKeyImport {
  /// The DER forms of an unencrypted private key.
  enum Form {
    /// RFC 5958 §2
    case pkcs8
    /// `RSAPrivateKey`. RFC 8017 §A.1.2
    case pkcs1
    /// `ECPrivateKey`. RFC 5915 §3
    case sec1
  }

  /// The key that `der` is, from its first byte to its last; nil if it is none. The caller owns it.
  static func key(_ der: UnsafeRawBufferPointer, form: Form) -> OpaquePointer? {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    return der.withNonNullBase { base in
      var end: UnsafePointer<UInt8>? = base
      guard let key = decode(&end, der.count, form) else { return nil }
      if end == base + der.count { return key }
      EVP_PKEY_free(key)  // something follows the key
      return nil
    }
  }

  private static func decode(_ end: inout UnsafePointer<UInt8>?, _ count: Int, _ form: Form) -> OpaquePointer? {
    switch form {
    case .pkcs1: return d2i_PrivateKey(EVP_PKEY_RSA, nil, &end, count)
    case .sec1: return d2i_PrivateKey(EVP_PKEY_EC, nil, &end, count)
    case .pkcs8:
      guard let info = d2i_PKCS8_PRIV_KEY_INFO(nil, &end, count) else { return nil }
      defer { PKCS8_PRIV_KEY_INFO_free(info) }
      return EVP_PKCS82PKEY(info)
    }
  }

  /// The public half of an imported key whose private numbers are in range and belong to it.
  ///
  /// - Throws: ``CryptographyError/malformedKey(_:)``
  static func checkedJWK(of pointer: OpaquePointer) throws(CryptographyError) -> JWK {
    let jwk = try publicJWK(of: pointer)  // first: it bounds the work of the check
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard let context = EVP_PKEY_CTX_new_from_pkey(nil, pointer, nil) else { throw OpenSSL.failure(.checkKey) }
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_check(context) == 1 else { throw .malformedKey(.halvesDiffer) }
    return jwk
  }

  static func publicJWK(of pointer: OpaquePointer) throws(CryptographyError) -> JWK {
    if EVP_PKEY_is_a(pointer, "EC") == 1 {
      guard isP256(pointer) else { throw .malformedKey(.unsupportedType) }
      // Left-padded to 32 bytes. RFC 7518 §6.2.1.2
      let x = try number(OSSL_PKEY_PARAM_EC_PUB_X, of: pointer, byteCount: 32)
      let y = try number(OSSL_PKEY_PARAM_EC_PUB_Y, of: pointer, byteCount: 32)
      return try JWK(.p256(x: x, y: y))
    }
    if EVP_PKEY_is_a(pointer, "RSA") == 1 {
      let modulus = try number(OSSL_PKEY_PARAM_RSA_N, of: pointer)
      return try JWK(.rsa(modulus: modulus, exponent: number(OSSL_PKEY_PARAM_RSA_E, of: pointer)))
    }
    guard EVP_PKEY_is_a(pointer, "ED25519") == 1 else { throw .malformedKey(.unsupportedType) }
    OpenSSL.clearErrors()
    var bytes = [UInt8](repeating: 0, count: 32)
    var count = bytes.count
    guard EVP_PKEY_get_raw_public_key(pointer, &bytes, &count) == 1 else { throw OpenSSL.failure(.exportKey) }
    return try JWK(.ed25519(bytes))
  }

  private static func isP256(_ pointer: OpaquePointer) -> Bool {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    var group = [CChar](repeating: 0, count: 32)
    return EVP_PKEY_get_group_name(pointer, &group, group.count, nil) == 1
      && group.prefix(while: { $0 != 0 }).elementsEqual("prime256v1".utf8CString.dropLast())
  }

  /// One public number, big-endian, in `byteCount` bytes or as few as it needs.
  private static func number(
    _ name: String, of pointer: OpaquePointer, byteCount: Int? = nil
  ) throws(CryptographyError) -> [UInt8] {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    var number: OpaquePointer?
    // The private number 0 has the point at infinity, which has no coordinates.
    guard EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { throw .malformedKey(.halvesDiffer) }
    defer { BN_free(number) }
    let count = byteCount ?? Int(BN_num_bits(number) + 7) / 8
    var bytes = [UInt8](repeating: 0, count: count)
    guard BN_bn2binpad(number, &bytes, Int32(count)) == Int32(count) else { throw OpenSSL.failure(.exportKey) }
    return bytes
  }
}
