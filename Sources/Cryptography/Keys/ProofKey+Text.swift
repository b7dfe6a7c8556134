/// Reading a proof key as other programs write one down.
extension ProofKey {
  /// Parses PEM (PKCS #8 or SEC 1) or a private JWK.
  ///
  /// - Throws: ``CryptographyError/malformedKey(_:)`` unless it is exactly one P-256 key without a passphrase whose halves
  ///   belong together. RFC 7468 §10, RFC 5915 §4, RFC 7518 §6.2.2
  package convenience init(text: Secret) throws(CryptographyError) {
    guard text.count <= SigningKey.textBytesMax else { throw .malformedKey(.tooLarge) }
    guard text.withUnsafeBytes({ $0.first { $0 > 0x20 } == UInt8(ascii: "{") }) else {
      try self.init(owning: PEMPrivateKey.parse(text))
      return
    }
    let parsed = try PrivateJWK.parse(text)
    try self.init(owning: parsed.pointer)
    guard publicJWK == parsed.publicJWK else { throw .malformedKey(.halvesDiffer) }
  }
}
