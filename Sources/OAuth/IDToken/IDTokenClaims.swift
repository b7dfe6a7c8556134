package import Cryptography
import HTTPWire

/// What an ID token says, for one that came from the token endpoint over TLS in answer to a request of ours.
///
/// It promises that the token has the form of a signed JWT and the claims that each ID token has. It does not verify the
/// signature: the connection says who wrote it, which OpenID Connect Core 1.0 §3.1.3.7 allows for such tokens and no
/// others. Whether `issuer`, `audiences` and `expiresAtUnixSeconds` are the expected ones is for the caller to judge.
///
/// OpenID Connect Core 1.0 §2, §5.1
package struct IDTokenClaims: Sendable, Equatable {
  /// Longer texts are as good as absent.
  package static let textBytesMax = 1024

  package let issuer: String
  package let subject: String
  package let audiences: [String]
  package let expiresAtUnixSeconds: Int64
  package let issuedAtUnixSeconds: Int64
  /// When the user was asked last.
  package let authenticatedAtUnixSeconds: Int64?
  package let name: String?
  package let preferredUsername: String?
  package let email: String?
  package let picture: String?
  /// `session_expiry`: no token of this login serves beyond it.
  package let sessionExpiresAtUnixSeconds: Int64?

  /// - Throws: ``IDTokenDefect``
  package init(parsing token: Secret) throws(IDTokenDefect) {
    guard token.count <= TokenResponse.idTokenBytesMax else { throw .tooLong }
    let segments = token.revealedString().split(separator: ".", omittingEmptySubsequences: false)
    guard segments.count == 3, let payload = Base64URL.decode(segments[1]) else { throw .notJWT }
    guard let claims = try? JSONValue(parsing: payload), claims.objectValue != nil else { throw .claimsNotJSON }
    func text(_ name: String) -> String? {
      claims[name]?.stringValue.flatMap { $0.isEmpty || $0.utf8.count > Self.textBytesMax ? nil : $0 }
    }
    guard let issuer = text("iss") else { throw .claimMissing("iss") }
    guard let subject = text("sub") else { throw .claimMissing("sub") }
    guard let audiences = Self.audiences(claims["aud"]) else { throw .claimMissing("aud") }
    guard let expiry = Self.seconds(claims["exp"]) else { throw .claimMissing("exp") }
    guard let issued = Self.seconds(claims["iat"]) else { throw .claimMissing("iat") }
    self.issuer = issuer
    self.subject = subject
    self.audiences = audiences
    expiresAtUnixSeconds = expiry
    issuedAtUnixSeconds = issued
    authenticatedAtUnixSeconds = Self.seconds(claims["auth_time"])
    name = text("name")
    preferredUsername = text("preferred_username")
    email = text("email")
    picture = text("picture")
    sessionExpiresAtUnixSeconds = Self.seconds(claims["session_expiry"])
  }

  private static func audiences(_ value: JSONValue?) -> [String]? {
    let found = value?.stringValue.map { [$0] } ?? value?.stringArrayValue ?? []
    return found.isEmpty || found.contains("") ? nil : found
  }

  /// A NumericDate after 1970 and before 2286, its fraction cut; so milliseconds are none. RFC 7519 §2
  private static func seconds(_ value: JSONValue?) -> Int64? {
    guard let seconds = value?.doubleValue, seconds > 0, seconds < 1e10 else { return nil }
    return Int64(seconds)
  }
}

/// Why a text is no ID token.
package enum IDTokenDefect: Error, Sendable, Equatable {
  case tooLong
  case notJWT
  case claimsNotJSON
  /// Absent, of another kind, or out of bounds.
  case claimMissing(String)
}

extension IDTokenDefect: CustomStringConvertible {
  package var description: String {
    switch self {
    case .tooLong: "the ID token is too long"
    case .notJWT: "the ID token is not a JWT in three segments"
    case .claimsNotJSON: "the claims of the ID token are not a JSON object"
    case .claimMissing(let name): "the ID token has no usable \"\(name)\""
    }
  }
}
