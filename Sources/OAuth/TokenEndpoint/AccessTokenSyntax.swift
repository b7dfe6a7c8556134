import Cryptography
import HTTPWire

/// What can be told of an access token by looking at it. To us it is opaque otherwise.
enum AccessTokenSyntax {
  /// `1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="`. RFC 9110 §11.2
  static func isToken68(_ token: String) -> Bool {
    let body = token.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
    return !body.isEmpty
      && body.allSatisfy { ASCII.isUnreserved($0) || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") }
  }

  /// Whether a header field can carry it. RFC 6750 §2.1 asks for token68, and not every server reads that.
  static func isVisible(_ token: String) -> Bool { token.utf8.allSatisfy { (0x21...0x7E).contains($0) } }

  /// `cnf.jkt` of a JWT; nil if it is no JWT or not bound. It is an early check, so nobody verifies the signature.
  /// RFC 9449 §6.1
  static func confirmationThumbprint(_ token: String) -> String? { claims(of: token)?["cnf"]?["jkt"]?.stringValue }

  /// `aud` of a JWT, one text or several; nil if it is no JWT or names none. Nobody verifies the signature here, either.
  /// RFC 9068 §2.2, RFC 7519 §4.1.3
  static func audiences(of token: String) -> [String]? {
    guard let audience = claims(of: token)?["aud"] else { return nil }
    return audience.stringValue.map { [$0] } ?? audience.stringArrayValue
  }

  private static func claims(of token: String) -> JSONValue? {
    let segments = token.split(separator: ".", omittingEmptySubsequences: false)
    guard segments.count == 3, let payload = Base64URL.decode(segments[1]) else { return nil }
    return try? JSONValue(parsing: payload)  // no claims, nothing to compare
  }
}
