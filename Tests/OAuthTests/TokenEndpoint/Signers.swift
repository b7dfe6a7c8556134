import Cryptography
import HTTPWire
import Testing

/// What assertions of the tests are signed with.
enum Signers {
  /// RFC 7515 A.3.1
  static let ec = #"""
    {"kty":"EC","crv":"P-256","kid":"ec-1","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
     "y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}
    """#
  /// RFC 8037 A.1
  static let ed25519 = #"""
    {"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
     "x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    """#
  static let sharedSecret = Secret(utf8: "sentinel-secret of more than 32 bytes")

  static func key(_ text: String = ec) throws -> SigningKey { try SigningKey(parsing: Secret(utf8: text)) }

  /// The claims of an assertion that verifies with `key`.
  static func claims(_ compact: String, key: SigningKey) throws -> JSONValue {
    let signature = try JSONWebSignature(compact: compact)
    #expect(signature.type == "JWT")
    #expect(signature.keyID == key.keyID)
    try signature.verify(with: key.publicJWK, algorithms: Set(key.algorithms))
    return try JSONValue(parsing: signature.payload)
  }
}
