import COpenSSL

/// Owns one `EVP_MD_CTX` for signing or verifying with a key.
struct SignatureContext: ~Copyable {
  let pointer: OpaquePointer

  init() {
    guard let context = EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
    pointer = context
  }

  deinit { EVP_MD_CTX_free(pointer) }
}

extension ProofKey {
  /// The raw ES256 signature over `message`. RFC 7518 §3.4
  func signature(over message: UnsafeRawBufferPointer) throws(CryptographyError) -> [UInt8] {
    let context = SignatureContext()
    OpenSSL.clearErrors()
    guard EVP_DigestSignInit(context.pointer, nil, OpenSSL.sha256.pointer, nil, pointer) == 1 else {
      throw OpenSSL.failure(.sign)
    }
    var der = [UInt8](repeating: 0, count: ES256Signature.derBytesMax)
    var count = der.count
    let signed = message.withNonNullBase { EVP_DigestSign(context.pointer, &der, &count, $0, message.count) }
    guard signed == 1 else { throw OpenSSL.failure(.sign) }
    var raw = [UInt8](repeating: 0, count: ES256Signature.rawBytes)
    let converted = der.withUnsafeBytes { der in
      raw.withUnsafeMutableBytes { raw in
        ES256Signature.writeRaw(der: UnsafeRawBufferPointer(rebasing: der[..<count]), into: raw)
      }
    }
    guard converted else { throw .library(.sign, code: 0) }
    return raw
  }
}

extension PublicKey {
  /// Whether `signature` is this key's over `message`, in the form OpenSSL takes (DER for ES256).
  func verifies(
    _ signature: [UInt8], over message: [UInt8], algorithm: JWSAlgorithm
  ) throws(CryptographyError) -> Bool {
    let context = SignatureContext()
    OpenSSL.clearErrors()
    var parameters: OpaquePointer?  // owned by the context
    let digest = algorithm == .edDSA ? nil : OpenSSL.sha256.pointer
    guard EVP_DigestVerifyInit(context.pointer, &parameters, digest, nil, pointer) == 1 else {
      throw OpenSSL.failure(.verify)
    }
    if algorithm == .ps256 {
      // MGF1 with the same hash is the default, a salt as long as the hash is not. RFC 7518 §3.5
      guard EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
        EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
      else { throw OpenSSL.failure(.verify) }
    }
    let verified = EVP_DigestVerify(context.pointer, signature, signature.count, message, message.count)
    OpenSSL.clearErrors()  // 0 and negative both mean no: some malformed signatures give an error, not a mismatch
    return verified == 1
  }
}
