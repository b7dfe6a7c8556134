import Cryptography

/// A login with name and password, which begins a grant. RFC 6749 §4.3
struct PasswordFlow: GrantFlow {
  let request: TokenRequest

  var record: TokenRequestRecord { TokenRequestRecord(grantType: .password, clientID: request.client.id) }

  func draft() throws(TokenRefusal) -> Entitlement {
    guard let username = request.form["username"], let password = request.form["password"] else {
      throw TokenRefusal(.requestInvalid, "username and password are needed")
    }
    let user = request.settings.users.first { $0.username == username }
    guard let user, Secret(utf8: user.password) == Secret(utf8: password) else {
      throw TokenRefusal(.passwordWrong, "username or password is wrong")
    }
    return Entitlement(
      clientID: request.client.id, subject: username, scope: try request.scope(), audiences: try request.audiences(),
      isFirst: true)
  }

  func complete(_ draft: Entitlement, jkt: String?) -> Entitlement {
    var seed = GrantSeed()
    seed.subject = draft.subject
    seed.scope = draft.scope
    // A login may be used for any audience later on; this answer's is one of them.
    seed.audiences = request.settings.audiences
    seed.jkt = request.client.isPublic ? jkt : nil
    seed.profile = SimulatedGrant.Profile(name: draft.subject)
    var entitlement = draft
    let begun = request.state.grants.begin(
      seed, clientID: draft.clientID, nowUnixSeconds: request.state.now(at: .authorizationServer))
    (entitlement.grant, entitlement.refreshToken) = (begun.0, begun.refreshToken)
    return entitlement
  }
}
