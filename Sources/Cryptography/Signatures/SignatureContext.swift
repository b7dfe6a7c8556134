import COpenSSL

/// Owns one `EVP_MD_CTX` for signing or verifying with a key.
struct SignatureContext: ~Copyable {
  let pointer: OpaquePointer

  init() {
    guard let context = EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
    pointer = context
  }

  deinit { EVP_MD_CTX_free(pointer) }

  /// Makes an initialised RSA context one for PS256. - Returns: whether OpenSSL did.
  static func usePSS(_ parameters: OpaquePointer?) -> Bool {
    // MGF1 with the same hash is the default, a salt as long as the hash is not. RFC 7518 §3.5
    EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1
      && EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
  }
}

extension ProofKey {
  /// The raw ES256 signature over `message`. RFC 7518 §3.4
  func signature(over message: UnsafeRawBufferPointer) throws(CryptographyError) -> [UInt8] {
    try PrivateKeySignature.make(over: message, key: pointer, algorithm: .es256)
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
    if algorithm == .ps256, !SignatureContext.usePSS(parameters) { throw OpenSSL.failure(.verify) }
    let verified = EVP_DigestVerify(context.pointer, signature, signature.count, message, message.count)
    OpenSSL.clearErrors()  // 0 and negative both mean no: some malformed signatures give an error, not a mismatch
    return verified == 1
  }
}
