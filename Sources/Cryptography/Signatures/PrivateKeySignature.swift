import COpenSSL

/// Signatures as JOSE has them, by a private key that OpenSSL holds.
enum PrivateKeySignature {
  /// The signature over `message`: raw r‖s for ES256. RFC 7518 §3.3 to §3.5, RFC 8037 §3.1
  static func make(
    over message: UnsafeRawBufferPointer, key: OpaquePointer, algorithm: JWSAlgorithm
  ) throws(CryptographyError) -> [UInt8] {
    let context = SignatureContext()
    OpenSSL.clearErrors()
    var parameters: OpaquePointer?  // owned by the context
    let digest = algorithm == .edDSA ? nil : OpenSSL.sha256.pointer
    guard EVP_DigestSignInit(context.pointer, &parameters, digest, nil, key) == 1 else {
      throw OpenSSL.failure(.sign)
    }
    if algorithm == .ps256, !SignatureContext.usePSS(parameters) { throw OpenSSL.failure(.sign) }
    var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
    var count = signature.count
    let signed = message.withNonNullBase { EVP_DigestSign(context.pointer, &signature, &count, $0, message.count) }
    guard signed == 1 else { throw OpenSSL.failure(.sign) }
    signature.removeLast(signature.count - count)
    guard algorithm == .es256 else { return signature }
    var raw = [UInt8](repeating: 0, count: ES256Signature.rawBytes)
    let isConverted = signature.withUnsafeBytes { der in
      raw.withUnsafeMutableBytes { ES256Signature.writeRaw(der: der, into: $0) }
    }
    guard isConverted else { throw .library(.sign, code: 0) }
    return raw
  }
}
