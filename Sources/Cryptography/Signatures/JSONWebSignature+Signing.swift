extension JSONWebSignature {
  /// A compact JWS over `payload` with an ES256 signature and the header `{alg, typ[, kid]}`.
  ///
  /// - Parameters:
  ///   - payload: the claims as JSON.
  ///   - type: `at+jwt`, `JWT`, …
  /// RFC 7515 §5.1
  package static func sign(
    payload: [UInt8], type: String, keyID: String? = nil, key: ProofKey
  ) throws(CryptographyError) -> String {
    try sign(header: header("ES256", type, keyID), payload: payload, key: key)
  }

  /// A compact JWS with a header of the caller's own, which must say `ES256` to be verifiable.
  package static func sign(
    header: [UInt8], payload: [UInt8], key: ProofKey
  ) throws(CryptographyError) -> String {
    try compact(header, payload) { message throws(CryptographyError) in try key.signature(over: message) }
  }

  /// A compact JWS over `payload` with the header `{alg, typ[, kid]}`.
  package static func sign(payload: [UInt8], type: String, signer: JWSSigner) throws(CryptographyError) -> String {
    try sign(header: header(signer.algorithmName, type, signer.keyID), payload: payload, signer: signer)
  }

  /// As above, with a header of the caller's own.
  static func sign(header: [UInt8], payload: [UInt8], signer: JWSSigner) throws(CryptographyError) -> String {
    try compact(header, payload) { message throws(CryptographyError) in try signer.signature(over: message) }
  }

  private static func header(_ algorithm: String, _ type: String, _ keyID: String?) -> [UInt8] {
    var header = #"{"alg":"\#(algorithm)","typ":"# + JSONText.quoted(type)
    if let keyID { header += #","kid":"# + JSONText.quoted(keyID) }
    return Array("\(header)}".utf8)
  }

  private static func compact(
    _ header: [UInt8], _ payload: [UInt8],
    signature: (UnsafeRawBufferPointer) throws(CryptographyError) -> [UInt8]
  ) throws(CryptographyError) -> String {
    let signingInput = "\(Base64URL.encode(header)).\(Base64URL.encode(payload))"
    let message = Array(signingInput.utf8)
    let made: Result<[UInt8], CryptographyError> = message.withUnsafeBytes { bytes in
      Result { () throws(CryptographyError) in try signature(bytes) }
    }
    return "\(signingInput).\(Base64URL.encode(try made.get()))"
  }
}
