import COpenSSL

/// Reads a private key from a JWK. RFC 7517, RFC 7518 §6, RFC 8037 §2
///
/// The members pass through strings that nobody zeroes; their bytes are kept in OpenSSL only.
enum PrivateJWK {
  struct Parsed {
    /// The caller owns it; whether it belongs to `publicJWK` is not known yet.
    let pointer: OpaquePointer
    let publicJWK: JWK
    let keyID: String?
  }

  /// - Throws: ``CryptographyError/malformedKey(_:)``
  static func parse(_ text: Secret) throws(CryptographyError) -> Parsed {
    guard let members = text.withUnsafeBytes({ JSONReader.object(Array($0)) }) else { throw .malformedKey(.notJSON) }
    let publicMembers = members.filter { !JWK.privateMembers.contains($0.key) }
    let publicJWK = try JWK(members: publicMembers)
    guard publicMembers.count < members.count else { throw .malformedKey(.publicKey) }
    let pointer: OpaquePointer? =
      switch publicJWK.material {
      case .p256: try number("d", in: members).withUnsafeBytes { PrivateKeyDER.p256($0) }
      case .ed25519: try number("d", in: members).withUnsafeBytes { PrivateKeyDER.ed25519($0) }
      case .rsa: try rsa(members)
      }
    guard let pointer else { throw .malformedKey(.halvesDiffer) }
    return Parsed(pointer: pointer, publicJWK: publicJWK, keyID: members["kid"]?.text)
  }

  /// All of the numbers, or nothing: the key could not be checked with `d` alone. RFC 7518 §6.3.2
  private static func rsa(_ members: [String: JSONTree]) throws(CryptographyError) -> OpaquePointer? {
    guard members["oth"] == nil else { throw .malformedKey(.unsupportedType) }
    var numbers: [Secret] = []
    for name in ["n", "e", "d", "p", "q", "dp", "dq", "qi"] { numbers.append(try number(name, in: members)) }
    return PrivateKeyDER.rsa(numbers)
  }

  private static func number(_ name: String, in members: [String: JSONTree]) throws(CryptographyError) -> Secret {
    guard let text = members[name]?.text, var bytes = Base64URL.decode(text) else {
      throw .malformedKey(.memberMissing)
    }
    defer { bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) } }
    return Secret(bytes)
  }
}
