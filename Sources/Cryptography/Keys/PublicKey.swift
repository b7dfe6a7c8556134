import COpenSSL

/// Owns a public `EVP_PKEY`.
final class PublicKey: @unchecked Sendable {  // an EVP_PKEY is not changed after its import, its count is atomic
  let pointer: OpaquePointer

  private init(owning pointer: OpaquePointer) { self.pointer = pointer }

  deinit { EVP_PKEY_free(pointer) }

  /// A P-256 key. The import checks that the point is on the curve; the curve's cofactor is 1, so that is enough.
  static func p256(x: [UInt8], y: [UInt8]) throws(CryptographyError) -> PublicKey {
    var group = Array("prime256v1".utf8CString)
    var point: [UInt8] = [4] + x + y
    let imported = group.withUnsafeMutableBufferPointer { group in
      point.withUnsafeMutableBufferPointer { point in
        importKey(
          type: "EC",
          [
            OSSL_PARAM_construct_utf8_string(ParameterName.group.pointer, group.baseAddress, 0),
            OSSL_PARAM_construct_octet_string(ParameterName.point.pointer, point.baseAddress, point.count),
          ])
      }
    }
    guard let imported else { throw .malformedKey(.notOnCurve) }
    return PublicKey(owning: imported)
  }

  /// An RSA key; both numbers are unsigned and big-endian.
  static func rsa(modulus: [UInt8], exponent: [UInt8]) throws(CryptographyError) -> PublicKey {
    var modulus = Array(modulus.reversed())  // OSSL_PARAM numbers have the machine's byte order
    var exponent = Array(exponent.reversed())
    #if _endian(big)
    modulus.reverse()
    exponent.reverse()
    #endif
    let imported = modulus.withUnsafeMutableBufferPointer { modulus in
      exponent.withUnsafeMutableBufferPointer { exponent in
        importKey(
          type: "RSA",
          [
            OSSL_PARAM_construct_BN(ParameterName.modulus.pointer, modulus.baseAddress, modulus.count),
            OSSL_PARAM_construct_BN(ParameterName.exponent.pointer, exponent.baseAddress, exponent.count),
          ])
      }
    }
    guard let imported else { throw OpenSSL.failure(.importKey) }
    return PublicKey(owning: imported)
  }

  /// An Ed25519 key of 32 bytes. RFC 8032 §5.1.5
  static func ed25519(_ bytes: [UInt8]) throws(CryptographyError) -> PublicKey {
    OpenSSL.clearErrors()
    guard let imported = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, bytes, bytes.count) else {
      throw OpenSSL.failure(.importKey)
    }
    return PublicKey(owning: imported)
  }

  private static func importKey(type: String, _ parameters: [OSSL_PARAM]) -> OpaquePointer? {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else { return nil }
    defer { EVP_PKEY_CTX_free(context) }
    var parameters = parameters + [OSSL_PARAM_construct_end()]
    var key: OpaquePointer?
    guard EVP_PKEY_fromdata_init(context) == 1,
      EVP_PKEY_fromdata(context, &key, proofd_EVP_PKEY_PUBLIC_KEY, &parameters) == 1
    else {
      EVP_PKEY_free(key)
      return nil
    }
    return key
  }
}

/// Names of `OSSL_PARAM`s. An `OSSL_PARAM` keeps the pointer to its name, so the name must live as long as the binary.
private enum ParameterName {
  static let group: StaticString = "group"
  static let point: StaticString = "pub"
  static let modulus: StaticString = "n"
  static let exponent: StaticString = "e"
}

extension StaticString {
  fileprivate var pointer: UnsafePointer<CChar> { UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self) }
}
