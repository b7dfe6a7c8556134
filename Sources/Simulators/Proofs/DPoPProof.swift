package import Cryptography
import HTTPWire

/// A DPoP proof whose form and signature are right. RFC 9449 §4.2
package struct DPoPProof: Sendable {
  package let key: JWK
  /// The JOSE header's JSON as it came.
  package let headerJSON: String
  /// The claims' JSON as it came.
  package let claimsJSON: String
  package let jti: String
  package let htm: String
  package let htu: String
  package let issuedAtUnixSeconds: Int64
  package let ath: String?
  package let nonce: String?

  package var thumbprint: String { key.thumbprint }
}

/// Why a request was refused because of its proof.
struct ProofDefect: Error, Equatable {
  var verdict: Verdict
  /// For people; names no value of the request.
  var detail: String
}
