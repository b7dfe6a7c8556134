package import Cryptography
package import HTTPWire

/// A JWT by which a client vouches for itself or for somebody else, signed anew for every send.
///
/// Servers remember each `jti`: an assertion that went out once, be it with a request that was only challenged for a
/// nonce, is spent. RFC 7523 §3
package struct JWTAssertion: Sendable {
  package static let lifetimeSecondsMax: Int64 = 3600
  /// Written by the assertion itself.
  package static let reservedClaims: Set<String> = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"]

  /// Why an assertion can't be as it was asked for.
  package enum Violation: Error, Sendable, Equatable {
    case lifetime
    case reservedClaim(String)
    case claimTwice(String)
  }

  package let issuer: String
  package let subject: String
  /// nil for the URL of the endpoint it is sent to.
  package let audience: String?
  package let lifetimeSeconds: Int64
  package let claims: [(String, JSONValue)]
  package let signer: JWSSigner

  /// - Parameters:
  ///   - lifetimeSeconds: 1 to ``lifetimeSecondsMax``; servers refuse what is valid for long.
  ///   - claims: further ones.
  /// - Throws: `Violation`
  package init(
    issuer: String, subject: String, audience: String?, lifetimeSeconds: Int64 = 60,
    claims: [(String, JSONValue)] = [], signer: JWSSigner
  ) throws(Violation) {
    guard (1...Self.lifetimeSecondsMax).contains(lifetimeSeconds) else { throw .lifetime }
    var names = Set<String>()
    for (name, _) in claims {
      guard !Self.reservedClaims.contains(name) else { throw .reservedClaim(name) }
      guard names.insert(name).inserted else { throw .claimTwice(name) }
    }
    self.issuer = issuer
    self.subject = subject
    self.audience = audience
    self.lifetimeSeconds = lifetimeSeconds
    self.claims = claims
    self.signer = signer
  }

  /// What a client says of itself to `audience`, for a minute. RFC 7523 §3, OpenID Connect Core 1.0 §9
  init(client: String, audience: String?, signer: JWSSigner) {
    issuer = client
    subject = client
    self.audience = audience
    lifetimeSeconds = 60
    claims = []
    self.signer = signer
  }

  /// A JWT of its own: with another `jti` than all before.
  ///
  /// - Parameters:
  ///   - endpoint: where it is sent.
  ///   - issuedAtUnixSeconds: the server's time as far as it is known.
  /// - Throws: ``OAuthError/assertion(_:)``
  package func sign(for endpoint: HTTPURL, issuedAtUnixSeconds: Int64) throws(OAuthError) -> String {
    let registered: [(String, JSONValue)] = [
      ("iss", .string(issuer)), ("sub", .string(subject)), ("aud", .string(audience ?? endpoint.absoluteString)),
      ("iat", .number("\(issuedAtUnixSeconds)")), ("exp", .number("\(issuedAtUnixSeconds + lifetimeSeconds)")),
      ("jti", .string(Base64URL.encode(SecureRandom.bytes(16)))),
    ]
    do throws(CryptographyError) {
      return try JSONWebSignature.sign(
        payload: JSONValue.object(registered + claims).serialised(), type: "JWT", signer: signer)
    } catch {
      throw .assertion(error)
    }
  }
}
