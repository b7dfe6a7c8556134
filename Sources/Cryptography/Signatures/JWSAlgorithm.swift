/// The signature algorithms this module verifies. There is no `none` and no HMAC: with a public key at hand neither can
/// be an honest answer. RFC 7518 §3.1, RFC 8037 §3.1, RFC 8725 §3.1
package enum JWSAlgorithm: String, Sendable, CaseIterable {
  case es256 = "ES256"
  case rs256 = "RS256"
  case ps256 = "PS256"
  case edDSA = "EdDSA"

  /// Whether a key of that kind makes such signatures. RFC 8725 §3.2
  func fits(_ material: JWK.Material) -> Bool {
    switch (self, material) {
    case (.es256, .p256), (.rs256, .rsa), (.ps256, .rsa), (.edDSA, .ed25519): true
    default: false
    }
  }
}
