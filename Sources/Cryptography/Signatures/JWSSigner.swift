/// What a client signs its assertions with: a private key and one of its algorithms, or a secret shared with the server.
///
/// RFC 7515 §5.1
package struct JWSSigner: Sendable {
  private enum Means: Sendable {
    case key(SigningKey, JWSAlgorithm)
    case secret(Secret)
  }

  /// HS256 takes no shorter secret. RFC 7518 §3.2
  package static let secretBytesMin = 32

  private let means: Means
  /// The `kid` in what is signed. RFC 7515 §4.1.4
  package let keyID: String?

  /// - Parameters:
  ///   - algorithm: nil for the usual one of the key's kind.
  ///   - keyID: nil for the key's own, if it has one.
  /// - Throws: ``CryptographyError/algorithmRefused`` if the key makes no such signatures. RFC 8725 §3.2
  package init(key: SigningKey, algorithm: JWSAlgorithm? = nil, keyID: String? = nil) throws(CryptographyError) {
    guard let algorithm = algorithm ?? key.algorithms.first, key.algorithms.contains(algorithm) else {
      throw .algorithmRefused
    }
    means = .key(key, algorithm)
    self.keyID = keyID ?? key.keyID
  }

  /// Signs with HS256.
  ///
  /// - Throws: ``CryptographyError/malformedKey(_:)`` for a secret that is too short: whoever sees one assertion could
  ///   find it by trying. RFC 7518 §3.2
  package init(secret: Secret, keyID: String? = nil) throws(CryptographyError) {
    guard secret.count >= Self.secretBytesMin else { throw .malformedKey(.secretTooShort) }
    means = .secret(secret)
    self.keyID = keyID
  }

  /// The `alg` in what is signed.
  package var algorithmName: String {
    switch means {
    case .key(_, let algorithm): algorithm.rawValue
    case .secret: "HS256"
    }
  }

  /// The shared secret, if it signs with one.
  package var secret: Secret? {
    if case .secret(let secret) = means { secret } else { nil }
  }

  func signature(over message: UnsafeRawBufferPointer) throws(CryptographyError) -> [UInt8] {
    switch means {
    case .key(let key, let algorithm):
      try PrivateKeySignature.make(over: message, key: key.pointer, algorithm: algorithm)
    case .secret(let secret): HMACSHA256.authenticate(message, key: secret)
    }
  }
}
