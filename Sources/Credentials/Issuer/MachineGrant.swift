package import Cryptography
import OAuth

/// A grant that needs no person and leaves nothing to keep.
package enum MachineGrant: Sendable {
  /// RFC 6749 §4.4
  case clientCredentials
  /// RFC 7523 §2.1
  case jwtBearer(Assertion)
  /// RFC 8693 §2.1
  case tokenExchange(Exchange)

  package enum Assertion: Sendable {
    case given(SecretOrigin)
    /// Signed by us, anew for each fetch.
    case signed(AssertionTemplate, key: SecretOrigin)
  }

  /// What an assertion of ours says. RFC 7523 §3
  package struct AssertionTemplate: Sendable {
    package var issuer: String
    package var subject: String
    /// nil: the token endpoint's URL.
    package var audience: String?
    package var lifetime: Duration
    package var keyID: String?
    /// nil: as the key has it.
    package var algorithm: JWSAlgorithm?
    package var claims: [(name: String, value: String)]

    package init(
      issuer: String, subject: String, audience: String?, lifetime: Duration, keyID: String?, algorithm: JWSAlgorithm?,
      claims: [(name: String, value: String)]
    ) {
      self.issuer = issuer
      self.subject = subject
      self.audience = audience
      self.lifetime = lifetime
      self.keyID = keyID
      self.algorithm = algorithm
      self.claims = claims
    }
  }

  package struct Exchange: Sendable {
    package enum Subject: Sendable {
      case given(SecretOrigin)
      /// The access token of another credential.
      case token(of: TokenSource)
    }
    package var subject: Subject
    /// A URI. RFC 8693 §3
    package var subjectType: String
    package var actor: (origin: SecretOrigin, type: String)?
    package var requestedType: String?

    package init(
      subject: Subject, subjectType: String, actor: (origin: SecretOrigin, type: String)?, requestedType: String?
    ) {
      self.subject = subject
      self.subjectType = subjectType
      self.actor = actor
      self.requestedType = requestedType
    }
  }

  var kind: TokenSourceKind {
    switch self {
    case .clientCredentials: .clientCredentials
    case .jwtBearer: .jwtBearer
    case .tokenExchange: .tokenExchange
    }
  }
}
