/// A JWS in compact serialisation, parsed and not yet verified. RFC 7515 §3.1
///
/// ```swift
/// let token = try JSONWebSignature(compact: text)
/// try token.verify(with: key, algorithms: [.es256])
/// // only now may token.payload be read
/// ```
package struct JSONWebSignature: Sendable {
  package static let compactBytesMax = 65_536

  /// The `alg` of the header, one of those this module knows.
  package let algorithm: JWSAlgorithm
  /// The `typ` of the header as it stands.
  package let type: String?
  package let keyID: String?
  /// The `jwk` of the header. Nothing makes it trustworthy but the caller's rules. RFC 9449 §4.3
  package let embeddedKey: JWK?
  /// The header's JSON.
  package let header: [UInt8]
  /// The payload's bytes; proven to be anybody's only once ``verify(with:algorithms:)`` returned.
  package let payload: [UInt8]
  package let signature: [UInt8]

  private let signingInput: [UInt8]

  /// Parses strictly: exactly three segments of unpadded base64url, a header with unique members, no `crit`.
  ///
  /// - Throws: ``CryptographyError/malformedSignature(_:)``, ``CryptographyError/malformedKey(_:)`` for a bad `jwk`, and
  ///   ``CryptographyError/algorithmRefused`` for any algorithm not in ``JWSAlgorithm``. RFC 7515 §5.2
  package init(compact: some StringProtocol) throws(CryptographyError) {
    try self.init(compact: Array(compact.utf8))
  }

  package init(compact: [UInt8]) throws(CryptographyError) {
    guard compact.count <= Self.compactBytesMax else { throw .malformedSignature(.tooLarge) }
    let segments = compact.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
    guard segments.count == 3 else { throw .malformedSignature(.segmentCount) }
    guard let header = Base64URL.decode(utf8: segments[0]), let payload = Base64URL.decode(utf8: segments[1]),
      let signature = Base64URL.decode(utf8: segments[2])
    else { throw .malformedSignature(.encoding) }
    guard let members = JSONReader.object(header) else { throw .malformedSignature(.headerNotJSON) }
    // No extension is understood here, so each that must be understood is a refusal. RFC 7515 §4.1.11
    guard members["crit"] == nil else { throw .malformedSignature(.criticalExtension) }
    guard let name = try Self.text("alg", in: members) else { throw .malformedSignature(.algorithmMissing) }
    guard let algorithm = JWSAlgorithm(rawValue: name) else { throw .algorithmRefused }

    self.algorithm = algorithm
    type = try Self.text("typ", in: members)
    keyID = try Self.text("kid", in: members)
    embeddedKey = try Self.key(in: members)
    self.header = header
    self.payload = payload
    self.signature = signature
    signingInput = Array(compact[..<segments[2].startIndex].dropLast())
  }

  /// Returns if `key` signed this with one of `algorithms`.
  ///
  /// - Throws: ``CryptographyError/algorithmRefused`` if the header's algorithm is not allowed or not one of the key's
  ///   kind, ``CryptographyError/signatureMismatch`` otherwise. RFC 7515 §5.2, RFC 8725 §3.1
  package func verify(with key: JWK, algorithms: Set<JWSAlgorithm>) throws(CryptographyError) {
    guard algorithms.contains(algorithm), algorithm.fits(key.material) else { throw .algorithmRefused }
    var signature = signature
    switch key.material {
    case .p256:
      // Raw r‖s; a DER signature, though valid mathematically, is not a JWS. RFC 7518 §3.4
      guard signature.count == ES256Signature.rawBytes else { throw .malformedSignature(.signatureSize) }
      signature = ES256Signature.der(raw: signature)
    case .rsa(let modulus, _):
      guard signature.count == modulus.count else { throw .malformedSignature(.signatureSize) }
    case .ed25519:
      guard signature.count == 64 else { throw .malformedSignature(.signatureSize) }
    }
    guard try key.key.verifies(signature, over: signingInput, algorithm: algorithm) else { throw .signatureMismatch }
  }

  private static func text(_ name: String, in members: [String: JSONTree]) throws(CryptographyError) -> String? {
    guard let member = members[name] else { return nil }
    guard let text = member.text else { throw .malformedSignature(.headerMember) }
    return text
  }

  private static func key(in members: [String: JSONTree]) throws(CryptographyError) -> JWK? {
    guard let member = members["jwk"] else { return nil }
    guard case .object(let members) = member else { throw .malformedSignature(.headerMember) }
    return try JWK(members: members)
  }
}
