import Cryptography
import HTTPWire
import Testing

@testable import Simulators

/// A DPoP proof as it was sent, taken apart with nothing but base64url and JSON.
struct SentProof {
  let header: JSONValue
  let claims: JSONValue
  let signature: [UInt8]
  let compact: String

  init(_ entry: JournalEntry) throws {
    let values = entry.values(of: "dpop")
    try #require(values.count == 1, "one proof, and not \(values.count)")
    compact = values[0]
    let parts = compact.split(separator: ".", omittingEmptySubsequences: false)
    try #require(parts.count == 3)
    header = try JSONValue(parsing: try #require(Base64URL.decode(parts[0])))
    claims = try JSONValue(parsing: try #require(Base64URL.decode(parts[1])))
    signature = try #require(Base64URL.decode(parts[2]))
  }

  var jti: String? { claims["jti"]?.stringValue }
  var htm: String? { claims["htm"]?.stringValue }
  var htu: String? { claims["htu"]?.stringValue }
  var ath: String? { claims["ath"]?.stringValue }
  var nonce: String? { claims["nonce"]?.stringValue }
  var issuedAtUnixSeconds: Int64? { claims["iat"]?.int64Value }
  var jwk: JSONValue? { header["jwk"] }
  /// RFC 7638, computed here.
  var thumbprint: String {
    let (x, y) = (jwk?["x"]?.stringValue ?? "", jwk?["y"]?.stringValue ?? "")
    return Base64URL.encode(SHA256.hash(Array(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8)))
  }
}

extension JournalEntry {
  /// The token that came with the request, whatever its scheme.
  var token: String? {
    values(of: "authorization").first?.split(separator: " ", maxSplits: 1).dropFirst().first.map(String.init)
  }

  /// The scheme it came with.
  var scheme: String? { values(of: "authorization").first?.split(separator: " ").first.map(String.init) }
}

/// What `ath` has to be. RFC 9449 §4.2
enum TokenHash {
  static func of(_ entry: JournalEntry) -> String? { entry.token.map { Base64URL.encode(SHA256.hash(Array($0.utf8))) } }
}
