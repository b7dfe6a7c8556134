/// Why a cryptographic operation did not happen, by whom it is to be blamed on.
///
/// No case holds a byte of a key, a token or a claim: each may be logged as it is.
package enum CryptographyError: Error, Equatable, Sendable {
  /// What was read is not a JWS in compact serialisation. RFC 7515 §5.2
  case malformedSignature(SignatureDefect)
  /// What was read is not a key this module works with. RFC 7517
  case malformedKey(KeyDefect)
  /// The algorithm is not one the caller allows, or it does not fit the key. RFC 8725 §3.1
  case algorithmRefused
  /// Everything is well formed and the signature is not that key's over those bytes.
  case signatureMismatch
  /// The claim can't stand in a DPoP proof. RFC 9449 §4.2
  case unwritableClaim(ProofClaim)
  /// The sealed bytes do not open: another key, another place, or they were changed.
  case sealBroken
  /// The caller's buffer ends before the result does.
  case bufferTooSmall
  /// OpenSSL failed at something that never fails on a healthy machine.
  case library(LibraryOperation, code: UInt)
}

/// What is wrong with a compact JWS.
package enum SignatureDefect: String, Sendable {
  case tooLarge = "it is larger than the limit"
  case segmentCount = "it does not have exactly three segments"
  case encoding = "a segment is not unpadded base64url"
  case headerNotJSON = "its header is not one JSON object with unique members"
  case headerMember = "a header member has the wrong JSON type"
  case algorithmMissing = "its header has no \"alg\""
  case criticalExtension = "its header demands an extension by \"crit\""
  case signatureSize = "its signature has the wrong size for the algorithm"
}

/// What is wrong with a key.
package enum KeyDefect: String, Sendable {
  case notJSON = "it is not one JSON object with unique members"
  case privateMember = "it holds private members where a public key belongs"
  case unsupportedType = "its key type or curve is not supported"
  case memberMissing = "a required member is missing, or not unpadded base64url"
  case coordinateSize = "a coordinate does not have 32 bytes"
  case notOnCurve = "its point is not on the curve"
  case modulusSize = "its modulus is outside 2048 to 8192 bits, or starts with zeros"
  case exponent = "its public exponent is even, below 3 or above 32 bits"
  case notPrivateKey = "it is not a P-256 private key in PKCS #8 form"
  case notPrivateKeyText = "it is neither a PEM private key (PKCS #8, PKCS #1 or SEC 1) nor a private JWK"
  case encrypted = "it is under a passphrase, and only a key without one can be read"
  case several = "there are several private keys, and which one to use is not known"
  case publicKey = "it is a public key where a private one belongs"
  case halvesDiffer = "its private part is out of range or does not belong to its public part"
  case tooLarge = "its text is larger than the limit"
  case secretTooShort = "a secret for HS256 has at least 32 bytes"
}

/// The claims of a DPoP proof that come from outside. RFC 9449 §4.2
package enum ProofClaim: String, Sendable {
  case htm, htu, iat, ath, nonce
}

/// The OpenSSL call that failed.
package enum LibraryOperation: String, Sendable {
  case importKey, exportKey, checkKey, sign, verify, derive
}

extension CryptographyError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .malformedSignature(let defect): "not a compact JWS: \(defect.rawValue)"
    case .malformedKey(let defect): "not a usable key: \(defect.rawValue)"
    case .algorithmRefused: "the signature algorithm is not allowed here"
    case .signatureMismatch: "the signature does not verify"
    case .unwritableClaim(let claim): "the value for \"\(claim.rawValue)\" can't stand in a DPoP proof"
    case .sealBroken: "what is sealed does not open with this key in this place"
    case .bufferTooSmall: "the buffer is too small for the result"
    case .library(let operation, let code):
      "OpenSSL failed to \(operation.rawValue) (error 0x\(String(code, radix: 16)))"
    }
  }
}
