package import Cryptography
package import HTTPWire

/// A proof for a request of the control plane, where one signature more or less is nothing.
package enum EndpointProof {
  /// - Parameters:
  ///   - accessTokenHash: `ath`, 43 bytes; empty where there is no access token, as at a token endpoint. RFC 9449 §4.2
  ///   - issuedAtUnixSeconds: the server's time as far as it is known.
  /// - Throws: ``OAuthError/proof(_:)``
  package static func make(
    key: ProofKey, method: String, url: HTTPURL, accessTokenHash: [UInt8] = [], nonce: NonceValue?,
    issuedAtUnixSeconds: Int64
  ) throws(OAuthError) -> String {
    let (htm, htu, nonce) = (Array(method.utf8), Array(url.description.utf8), nonce?.bytes ?? [])
    let room = ProofSigner.proofBytesMax(htmBytes: htm.count, htuBytes: htu.count, nonceBytes: nonce.count)
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
    defer { output.deallocate() }
    let signer = ProofSigner(key: key)
    let signed = htm.withUnsafeBytes { htm in
      htu.withUnsafeBytes { htu in
        nonce.withUnsafeBytes { nonce in
          accessTokenHash.withUnsafeBytes { ath in
            Result { () throws(CryptographyError) in
              try signer.sign(
                htm: htm, htu: htu, ath: ath, nonce: nonce, issuedAtUnixSeconds: issuedAtUnixSeconds, into: output)
            }
          }
        }
      }
    }
    return String(decoding: output[..<(try signed.mapError { OAuthError.proof($0) }.get())], as: UTF8.self)
  }
}
