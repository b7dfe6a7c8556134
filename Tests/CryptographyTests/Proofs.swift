import Cryptography
import Testing

/// What a proof is asked to say, as strings.
struct ProofRequest {
  var htm = "GET"
  var htu = "https://api.example.com/v1/orders"
  var ath = ""
  var nonce = ""
  var issuedAtUnixSeconds: Int64 = 1_700_000_000
}

extension ProofSigner {
  /// Signs into a buffer of `capacity` bytes, by default just what the bound says.
  func proof(_ request: ProofRequest, capacity: Int? = nil) throws -> String {
    let bound = Self.proofBytesMax(
      htmBytes: request.htm.utf8.count, htuBytes: request.htu.utf8.count, nonceBytes: request.nonce.utf8.count)
    var buffer = [UInt8](repeating: 0xEE, count: capacity ?? bound)
    let count = try Array(request.htm.utf8).withUnsafeBytes { htm in
      try Array(request.htu.utf8).withUnsafeBytes { htu in
        try Array(request.ath.utf8).withUnsafeBytes { ath in
          try Array(request.nonce.utf8).withUnsafeBytes { nonce in
            try buffer.withUnsafeMutableBytes { output in
              try sign(
                htm: htm, htu: htu, ath: ath, nonce: nonce, issuedAtUnixSeconds: request.issuedAtUnixSeconds,
                into: output)
            }
          }
        }
      }
    }
    return String(decoding: buffer[..<count], as: UTF8.self)
  }
}
