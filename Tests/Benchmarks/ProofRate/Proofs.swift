import Cryptography

/// Whole proofs as the gateway makes them for a request with a token and a nonce.
struct Proofs: ~Copyable {
  private let signer = ProofSigner(key: .generate())
  private let method = Array("GET".utf8)
  private let url = Array("https://api.example.com/v1/orders/17".utf8)
  private let tokenHash = Array("fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo".utf8)
  private let nonce = Array("eyJ7S_zG.eyJH0-Z.HX4w-7v".utf8)
  private var issuedAtUnixSeconds: Int64 = 1_800_000_000
  private var output = [UInt8](repeating: 0, count: 1_024)

  mutating func sign() -> Bool {
    issuedAtUnixSeconds += 1
    let count = try? method.withUnsafeBytes { method in
      try url.withUnsafeBytes { url in
        try tokenHash.withUnsafeBytes { tokenHash in
          try nonce.withUnsafeBytes { nonce in
            try output.withUnsafeMutableBytes { output in
              try signer.sign(
                htm: method, htu: url, ath: tokenHash, nonce: nonce, issuedAtUnixSeconds: issuedAtUnixSeconds,
                into: output)
            }
          }
        }
      }
    }
    return (count ?? 0) > 0  // why it failed does not matter to a benchmark: it ends
  }
}
