/// A token for whom a signed assertion names: of a known issuer, or of the client itself. RFC 7523 §2.1
struct JWTBearerFlow: GrantFlow {
  let request: TokenRequest

  var record: TokenRequestRecord { TokenRequestRecord(grantType: .jwtBearer, clientID: request.client.id) }

  func draft() throws(TokenRefusal) -> Entitlement {
    guard let compact = request.form["assertion"] else { throw TokenRefusal(.requestInvalid, "no assertion") }
    do {
      let assertion = try SignedAssertion(compact: compact)
      guard let subject = assertion["sub"], !subject.isEmpty else {
        throw SignedAssertion.Defect("the assertion has no sub")
      }
      guard isSigned(assertion) else { throw SignedAssertion.Defect("no issuer known here signed the assertion") }
      let entitlement = Entitlement(
        clientID: request.client.id, subject: subject, scope: try request.scope(), audiences: try request.audiences())
      try AssertionGate(state: request.state).admit(assertion, needsIdentifier: false)
      return entitlement
    } catch let defect as SignedAssertion.Defect {
      throw TokenRefusal(.assertionInvalid, defect.detail)
    } catch let refusal as TokenRefusal {
      throw refusal
    } catch {
      throw TokenRefusal(.assertionInvalid, "the assertion can't be judged")
    }
  }

  func complete(_ draft: Entitlement, jkt: String?) -> Entitlement { draft }

  private func isSigned(_ assertion: SignedAssertion) -> Bool {
    let client = request.client
    if assertion["iss"] == client.id {
      return assertion.isSigned(byOneOf: client.keys) || client.secret.map(assertion.isSigned(with:)) == true
    }
    let issuers = request.settings.assertionIssuers.filter { $0.issuer == assertion["iss"] }
    return assertion.isSigned(byOneOf: issuers.flatMap(\.keys))
  }
}
