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
    var header = #"{"alg":"ES256","typ":"# + JSONText.quoted(type)
    if let keyID { header += #","kid":"# + JSONText.quoted(keyID) }
    return try sign(header: Array("\(header)}".utf8), payload: payload, key: key)
  }

  /// A compact JWS with a header of the caller's own, which must say `ES256` to be verifiable.
  package static func sign(
    header: [UInt8], payload: [UInt8], key: ProofKey
  ) throws(CryptographyError) -> String {
    let signingInput = "\(Base64URL.encode(header)).\(Base64URL.encode(payload))"
    let message = Array(signingInput.utf8)
    let signature: Result<[UInt8], CryptographyError> = message.withUnsafeBytes { bytes in
      Result { () throws(CryptographyError) in try key.signature(over: bytes) }
    }
    return "\(signingInput).\(Base64URL.encode(try signature.get()))"
  }
}
