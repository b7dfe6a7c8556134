/// A token for the client itself. RFC 6749 §4.4
struct ClientCredentialsFlow: GrantFlow {
  let request: TokenRequest

  var record: TokenRequestRecord {
    TokenRequestRecord(grantType: .clientCredentials, clientID: request.client.id)
  }

  func draft() throws(TokenRefusal) -> Entitlement {
    Entitlement(
      clientID: request.client.id, subject: request.client.id, scope: try request.scope(),
      audiences: try request.audiences())
  }

  func complete(_ draft: Entitlement, jkt: String?) -> Entitlement { draft }
}
