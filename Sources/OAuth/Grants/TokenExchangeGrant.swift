package import Cryptography

/// A token for another one. RFC 8693 §2.1
package struct TokenExchangeGrant: TokenGrant {
  package static let grantType = "urn:ietf:params:oauth:grant-type:token-exchange"

  /// A token with what kind it is of: an actor without a type, or the other way round, can't be written. RFC 8693 §3
  package struct TypedToken: Sendable {
    package static let accessTokenType = "urn:ietf:params:oauth:token-type:access_token"

    package let token: Secret
    /// A URI.
    package let type: String

    package init(_ token: Secret, type: String = accessTokenType) {
      self.token = token
      self.type = type
    }
  }

  /// On whose behalf.
  package let subject: TypedToken
  /// Who acts, if it is somebody else.
  package let actor: TypedToken?
  /// A URI; nil leaves it to the server.
  package let requestedTokenType: String?
  package let target: GrantTarget

  package init(
    subject: TypedToken, actor: TypedToken? = nil, requestedTokenType: String? = nil,
    target: GrantTarget = GrantTarget()
  ) {
    self.subject = subject
    self.actor = actor
    self.requestedTokenType = requestedTokenType
    self.target = target
  }

  package var parameters: [FormParameter] {
    var form = [FormParameter("subject_token", subject.token), FormParameter("subject_token_type", subject.type)]
    if let actor {
      form += [FormParameter("actor_token", actor.token), FormParameter("actor_token_type", actor.type)]
    }
    if let requestedTokenType { form.append(FormParameter("requested_token_type", requestedTokenType)) }
    return form
  }
}
