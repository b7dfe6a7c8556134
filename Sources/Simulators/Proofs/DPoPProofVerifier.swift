import Cryptography
import HTTPWire

/// Reads and checks DPoP proofs as strictly as RFC 9449 §4.3 allows: strings are compared exactly, nothing is normalised.
struct DPoPProofVerifier: Sendable {
  static let jtiBytesMax = 256

  /// Only ES256, which is what the simulators' metadata says.
  static let algorithms: Set<JWSAlgorithm> = [.es256]

  /// What the request demands of its proof.
  struct Expectation {
    var method: String
    /// Without query and fragment.
    var url: String
    /// nil at the token endpoint, where no `ath` may be. RFC 9449 §4.2
    var accessToken: String?
  }

  /// The one proof of a request, checked by itself: form, type, algorithm, key, signature and claim types.
  /// RFC 9449 §4.3 steps 1–7
  static func read(_ head: ReceivedHead) throws(ProofDefect) -> DPoPProof {
    let values = head.values(of: "dpop")
    guard let compact = values.first else { throw ProofDefect(verdict: .proofMissing, detail: "no DPoP field") }
    guard values.count == 1 else { throw ProofDefect(verdict: .proofRepeated, detail: "more than one DPoP field") }
    let signature = try parse(compact)
    guard signature.type == "dpop+jwt" else {
      throw ProofDefect(verdict: .proofType, detail: "typ is not dpop+jwt")
    }
    guard algorithms.contains(signature.algorithm) else {
      throw ProofDefect(verdict: .proofAlgorithm, detail: "alg is not ES256")
    }
    guard let key = signature.embeddedKey else { throw ProofDefect(verdict: .proofKey, detail: "no jwk in the header") }
    do { try signature.verify(with: key, algorithms: algorithms) } catch {
      throw ProofDefect(verdict: .proofSignature, detail: "\(error)")
    }
    return try claims(of: signature, key)
  }

  /// Checks that the proof was made for this request. RFC 9449 §4.3 steps 8, 9 and 12
  static func check(_ proof: DPoPProof, against expectation: Expectation) throws(ProofDefect) {
    guard proof.htm == expectation.method else {
      throw ProofDefect(verdict: .proofMethod, detail: "htm is not the method")
    }
    guard proof.htu == expectation.url else {
      throw ProofDefect(verdict: .proofURL, detail: "htu is not the request's URL, \(expectation.url)")
    }
    let ath = expectation.accessToken.map { Base64URL.encode(SHA256.hash(Array($0.utf8))) }
    guard proof.ath == ath else {
      let detail = ath == nil ? "ath without an access token" : "ath is not the hash of the access token"
      throw ProofDefect(verdict: .proofTokenHash, detail: detail)
    }
  }

  private static func parse(_ compact: String) throws(ProofDefect) -> JSONWebSignature {
    do { return try JSONWebSignature(compact: compact) } catch {
      switch error {
      case .malformedKey: throw ProofDefect(verdict: .proofKey, detail: "\(error)")
      case .algorithmRefused: throw ProofDefect(verdict: .proofAlgorithm, detail: "\(error)")
      default: throw ProofDefect(verdict: .proofMalformed, detail: "\(error)")
      }
    }
  }

  private static func claims(of signature: JSONWebSignature, _ key: JWK) throws(ProofDefect) -> DPoPProof {
    guard let claims = JSONValue(strictly: signature.payload), claims.objectValue != nil else {
      throw ProofDefect(verdict: .proofMalformed, detail: "the claims are not a JSON object")
    }
    func text(_ name: String) throws(ProofDefect) -> String {
      guard let text = claims[name]?.stringValue else {
        throw ProofDefect(verdict: .proofClaims, detail: "\(name) is missing or no string")
      }
      return text
    }
    func optionalText(_ name: String) throws(ProofDefect) -> String? {
      claims[name] == nil ? nil : try text(name)
    }
    let jti = try text("jti")
    guard !jti.isEmpty, jti.utf8.count <= jtiBytesMax else {
      throw ProofDefect(verdict: .proofClaims, detail: "jti is empty or too long")
    }
    guard let issuedAt = claims["iat"]?.int64Value else {
      throw ProofDefect(verdict: .proofClaims, detail: "iat is missing or no integer")
    }
    return DPoPProof(
      key: key, headerJSON: String(decoding: signature.header, as: UTF8.self),
      claimsJSON: String(decoding: signature.payload, as: UTF8.self), jti: jti, htm: try text("htm"),
      htu: try text("htu"), issuedAtUnixSeconds: issuedAt, ath: try optionalText("ath"),
      nonce: try optionalText("nonce"))
  }
}
