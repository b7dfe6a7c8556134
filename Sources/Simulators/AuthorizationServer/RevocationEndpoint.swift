/// `POST /revoke`. RFC 7009 §2
struct RevocationEndpoint: Sendable {
  let state: SimulationState

  /// A token nobody knows is revoked already. RFC 7009 §2.2
  func outcome(of head: ReceivedHead, _ body: ReceivedBody) -> Outcome {
    do throws(TokenRefusal) {
      let form = try TokenForm(head, body)
      let clients = state.settings.withLock { $0.authorizationServer.clients }
      let client = try ClientAuthentication(state: state, clients: clients).identify(head, form)
      guard let token = form["token"] else { throw TokenRefusal(.requestInvalid, "no token") }
      try revoke(token, client)
      return Outcome(answer: Answer(status: 200), verdict: .accepted)
    } catch {
      return Outcome(answer: error.answer, verdict: error.verdict, detail: error.detail)
    }
  }

  /// A refresh token takes its whole grant with it. RFC 7009 §2.1
  private func revoke(_ token: String, _ client: SimulatedClient) throws(TokenRefusal) {
    if let grant = state.grants.find(token)?.grant {
      guard grant.clientID == client.id else { throw TokenRefusal(.refreshClient, "the token is another client's") }
      state.grants.revoke(grant.id, .client)
    } else if let issued = state.tokens.find(token) {
      guard issued.clientID == client.id else { throw TokenRefusal(.refreshClient, "the token is another client's") }
      state.tokens.revoke(token)
    }
  }
}
