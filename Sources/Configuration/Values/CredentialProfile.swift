/// One entry of `credentials:`: how to get what an upstream wants to see.
package struct CredentialProfile: Sendable, Equatable {
  package enum Kind: Sendable, Equatable {
    /// `provider: static`
    case fixed(StaticCredential)
    /// `provider: oidc`
    case client(ClientProfile)
  }

  /// Unique.
  package var name: String
  package var kind: Kind
  /// `proofd token` and `proofd headers` give the credential itself away.
  package var allowExport: Bool

  package init(name: String, kind: Kind, allowExport: Bool = false) {
    self.name = name
    self.kind = kind
    self.allowExport = allowExport
  }

  /// Whether the credential is a person's login, kept in the store under an account.
  package var isLogin: Bool {
    if case .client(let client) = kind { client.grant.isLogin } else { false }
  }

  /// Whether every send carries a DPoP proof.
  package var usesDPoP: Bool {
    if case .client(let client) = kind { client.dpop } else { false }
  }
}

/// A secret that is sent as it is.
package struct StaticCredential: Sendable, Equatable {
  package enum Placement: Sendable, Equatable {
    /// `Authorization: Bearer TOKEN`, RFC 6750 §2.1
    case bearer(SecretReference)
    /// `Authorization: Basic …`, RFC 7617 §2. The user name has no colon.
    case basic(username: String, password: SecretReference)
    /// A field of its own, for instance `X-Api-Key`.
    case field(name: String, SecretReference)
    /// A query parameter; its name is not percent-encoded yet.
    case query(name: String, SecretReference)
  }

  package var placement: Placement
  /// How often a secret from a file or a command is read again.
  package var reread: Duration

  package static let rereadDefault = Duration.seconds(60)

  package init(placement: Placement, reread: Duration = Self.rereadDefault) {
    self.placement = placement
    self.reread = reread
  }

  package var secret: SecretReference {
    switch placement {
    case .bearer(let secret), .basic(_, let secret), .field(_, let secret), .query(_, let secret): secret
    }
  }
}
