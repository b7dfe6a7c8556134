/// A new access token for a login of long ago. RFC 6749 §6, RFC 9449 §5
struct RefreshTokenFlow: GrantFlow {
  let record: TokenRequestRecord
  private let request: TokenRequest
  private let grant: SimulatedGrant?

  init(_ request: TokenRequest) {
    self.request = request
    let found = request.form["refresh_token"].flatMap(request.state.grants.find)
    grant = found?.grant
    record = TokenRequestRecord(
      grantType: .refreshToken, clientID: request.client.id, grant: found?.grant.id, rotation: found?.rotation)
  }

  /// A request that asks for too much must not cost the token, so this comes first. The effect that a broken server has
  /// here is the setting's. RFC 6749 §6
  func draft() throws(TokenRefusal) -> Entitlement {
    guard request.form["refresh_token"] != nil else { throw TokenRefusal(.requestInvalid, "no refresh_token") }
    let draft = Entitlement(
      clientID: request.client.id, subject: grant?.subject ?? "", scope: try request.scope(within: grant?.scope),
      audiences: try request.audiences(within: grant?.audiences ?? []))
    guard request.settings.refresh.isConsumedBeforeNonce else { return draft }
    return try redeemed(draft, jkt: nil, judgesKey: false)
  }

  func complete(_ draft: Entitlement, jkt: String?) throws(TokenRefusal) -> Entitlement {
    if draft.grant != nil { return draft }
    return try redeemed(draft, jkt: jkt, judgesKey: request.settings.binding != .ignored)
  }

  private func redeemed(_ draft: Entitlement, jkt: String?, judgesKey: Bool) throws(TokenRefusal) -> Entitlement {
    let presented = GrantBook.Presented(
      text: request.form["refresh_token"] ?? "", clientID: request.client.id, isPublic: request.client.isPublic,
      jkt: jkt, nowUnixSeconds: request.state.now(at: .authorizationServer), judgesKey: judgesKey)
    var entitlement = draft
    let redeemed = try request.state.grants.redeem(presented, request.settings.refresh)
    (entitlement.grant, entitlement.refreshToken) = redeemed
    return entitlement
  }
}
