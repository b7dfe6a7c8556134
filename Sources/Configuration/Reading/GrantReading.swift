extension ReadingContext {
  static let claimsMax = 50

  private enum GrantKind: String {
    case authorizationCode = "authorization_code"
    case deviceCode = "device_code"
    case clientCredentials = "client_credentials"
    case jwtBearer = "jwt_bearer"
    case tokenExchange = "token_exchange"
    case password
  }

  /// How tokens are asked for, and how a login gets those for further audiences. Nil after a mistake, which is reported.
  func readGrant(
    _ section: Section, clientID: String?
  ) -> (grant: ClientProfile.Grant, targetMethod: ClientProfile.TargetMethod)? {
    guard let kind = readKind(section) else { return nil }
    for (grant, keys) in KeyTable.grantKeys where grant != kind.rawValue {
      for key in keys { section[key]?.reportKey("is a key of grant: \(grant) only") }
    }
    let targets = section["targets"]?.choice([
      "refresh": ClientProfile.TargetMethod.refresh, "token_exchange": .tokenExchange,
    ])
    let grant: ClientProfile.Grant? =
      switch kind {
      case .authorizationCode: .authorizationCode
      case .deviceCode: .deviceCode
      case .clientCredentials: .clientCredentials
      case .jwtBearer: readJWTBearer(section, clientID: clientID).map { .jwtBearer($0) }
      case .tokenExchange: readTokenExchange(section).map { .tokenExchange($0) }
      case .password: readPassword(section).map { .password($0) }
      }
    guard let grant else { return nil }
    if !grant.isLogin {
      section["targets"]?.reportKey("is a key of logins only: grant: authorization_code, device_code or password")
    }
    return (grant, targets ?? .refresh)
  }

  private func readKind(_ section: Section) -> GrantKind? {
    guard let entry = section["grant"] else { return .authorizationCode }
    return entry.choice([
      "authorization_code": GrantKind.authorizationCode, "device_code": .deviceCode,
      "client_credentials": .clientCredentials, "jwt_bearer": .jwtBearer, "token_exchange": .tokenExchange,
      "password": .password,
    ])
  }

  // MARK: JWT bearer

  private func readJWTBearer(_ section: Section, clientID: String?) -> JWTBearerAssertion? {
    let given = section["assertion"].flatMap { readSecret($0) }
    let signed = section["signed_assertion"].flatMap { readSignedAssertion($0, clientID: clientID) }
    switch (section["assertion"], section["signed_assertion"]) {
    case (nil, nil):
      _ = section.required("assertion", "is required by grant: jwt_bearer; or signed_assertion, for one signed here")
      return nil
    case (.some, .some(let entry)):
      entry.reportKey("goes without assertion: one of them is sent")
      return nil
    case (.some, nil): return given.map { .given($0) }
    case (nil, .some): return signed.map { .signed($0) }
    }
  }

  private func readSignedAssertion(_ entry: Entry, clientID: String?) -> SignedAssertion? {
    guard let section = Section(entry, KeyTable.signedAssertion) else { return nil }
    let issuer = section["issuer"].map { $0.string(expected: "the assertion's iss") } ?? clientID
    let subject = section.required("subject")?.string(expected: "the assertion's sub")
    let audience = section["audience"]?.string(expected: "the assertion's aud")
    let lifetime = section["lifetime"]?.duration(SignedAssertion.lifetimeRange)
    let key = readSigningKey(section)
    let claims = section["claims"].map(readClaims) ?? []
    guard let issuer, let subject, let key else { return nil }
    return SignedAssertion(
      issuer: issuer, subject: subject, audience: audience, lifetime: lifetime ?? SignedAssertion.lifetimeDefault,
      key: key, claims: claims)
  }

  private func readClaims(_ entry: Entry) -> [AssertionClaim] {
    let pairs = entry.pairs(of: "claims and their values")
    guard pairs.count <= Self.claimsMax else {
      entry.report("more than \(Self.claimsMax) claims")
      return []
    }
    var claims: [AssertionClaim] = []
    for (name, entry) in pairs {
      if name.isEmpty {
        entry.reportKey("must be a claim's name")
      } else if SignedAssertion.reservedClaims.contains(name) {
        entry.reportKey("is set by proofd itself")
      } else if let value = entry.string() {
        claims.append(AssertionClaim(name: name, value: value))
      }
    }
    return claims
  }

  // MARK: Token exchange

  private func readTokenExchange(_ section: Section) -> TokenExchangeProfile? {
    let subject = readSubject(section)
    let subjectType = section["subject_token_type"].map(readTokenType) ?? TokenExchangeProfile.accessTokenType
    let actor = section["actor_token"].flatMap { readSecret($0) }
    let actorType = section["actor_token_type"].flatMap(readTokenType)
    let requestedType = section["requested_token_type"].flatMap(readTokenType)
    switch (section["actor_token"], section["actor_token_type"]) {
    case (.some, nil): _ = section.required("actor_token_type", "is required by actor_token")
    case (nil, .some): _ = section.required("actor_token", "is required by actor_token_type")
    case (nil, nil), (.some, .some): break
    }
    guard let subject, let subjectType else { return nil }
    var profile = TokenExchangeProfile(
      subject: subject, subjectTokenType: subjectType, requestedTokenType: requestedType)
    if let actor, let actorType { profile.actor = TokenExchangeProfile.Actor(token: actor, tokenType: actorType) }
    return profile
  }

  private func readSubject(_ section: Section) -> TokenExchangeProfile.Subject? {
    let token = section["subject_token"].flatMap { readSecret($0) }
    let credential = section["subject_credential"].flatMap(readReference)
    switch (section["subject_token"], section["subject_credential"]) {
    case (nil, nil):
      _ = section.required(
        "subject_token", "is required by grant: token_exchange; or subject_credential, the name of another credential")
      return nil
    case (.some, .some(let entry)):
      entry.reportKey("goes without subject_token: one token is exchanged")
      return nil
    case (.some, nil): return token.map { .token($0) }
    case (nil, .some): return credential.map { .credential($0) }
    }
  }

  private static let tokenTypePrefix = "urn:ietf:params:oauth:token-type:"

  /// A token type identifier, RFC 8693 §3.
  private func readTokenType(_ entry: Entry) -> String? {
    guard let text = entry.string(expected: "a token type such as \(TokenExchangeProfile.accessTokenType)") else {
      return nil
    }
    guard ASCII.isAbsoluteURI(text) else {
      let short = ["access_token", "refresh_token", "id_token", "saml1", "saml2", "jwt"]
      entry.report(
        "must be a token type URI such as \(TokenExchangeProfile.accessTokenType)",
        suggestion: short.contains(text) ? Self.tokenTypePrefix + text : nil)
      return nil
    }
    return text
  }

  // MARK: Password

  private func readPassword(_ section: Section) -> PasswordProfile? {
    let required = "is required by grant: password"
    let name = section.required("username", required)?.string(expected: "a user name")
    let password = section.required("password", required).flatMap { readSecret($0) }
    guard let name, let password else { return nil }
    guard !name.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      section["username"]?.report("must not have control characters")
      return nil
    }
    return PasswordProfile(username: name, password: password)
  }
}
