import HTTPWire

extension ReadingContext {
  func readClientProfile(_ section: Section) -> ClientProfile? {
    let allowInsecure = section.boolean("allow_insecure", default: false)
    let server = readAuthorizationServer(section, allowInsecure: allowInsecure)
    let grant = section.required(
      "grant",
      "is required: client_credentials, the one this version knows (without it, a later one logs in by browser)"
    )?.choice(["client_credentials": ClientProfile.Grant.clientCredentials], later: LaterVersions.grants)
    let clientID = section.required("client_id").flatMap(readClientID)
    let proof = readClientAuthentication(section)
    let target = readTokenTarget(section)
    let dpop = section.boolean("dpop", default: false)
    let allowBearer = section.boolean("allow_bearer", default: false)
    if allowBearer, !dpop { section["allow_bearer"]?.reportKey("has a meaning with dpop: true only") }
    let authorities = section["tls"].flatMap { Section($0, KeyTable.issuerTLS) }.flatMap(readCertificateAuthorityFile)

    guard let server, let grant, let clientID, let proof else { return nil }
    return ClientProfile(
      issuer: server.issuer, issuerURL: server.issuerURL, tokenEndpoint: server.tokenEndpoint, grant: grant,
      clientID: clientID, clientSecret: proof.secret, authentication: proof.method, target: target, dpop: dpop,
      allowBearer: allowBearer, allowInsecure: allowInsecure, certificateAuthorityFile: authorities)
  }

  /// The `ca` of a `tls` mapping.
  func readCertificateAuthorityFile(_ section: Section) -> String? {
    guard let entry = section["ca"], let path = readPath(entry) else { return nil }
    need(.certificates(path), entry)
    return path
  }

  private typealias AuthorizationServer = (issuer: String?, issuerURL: HTTPURL?, tokenEndpoint: HTTPURL?)

  private func readAuthorizationServer(_ section: Section, allowInsecure: Bool) -> AuthorizationServer? {
    var server: AuthorizationServer = (nil, nil, nil)
    var isComplete = true
    if let entry = section["issuer"] {
      server.issuerURL = readUrl(entry, .issuer, allowInsecure: allowInsecure)
      server.issuer = server.issuerURL == nil ? nil : entry.string()
      isComplete = server.issuerURL != nil
    }
    if let entry = section["endpoints"] {
      let endpoints = Section(entry, KeyTable.endpoints)
      server.tokenEndpoint = endpoints?.required("token").flatMap {
        readUrl($0, .tokenEndpoint, allowInsecure: allowInsecure)
      }
      isComplete = isComplete && server.tokenEndpoint != nil
    }
    if section["issuer"] == nil, section["endpoints"] == nil {
      _ = section.required("issuer", "is required, to discover the endpoints; or give them: endpoints: {token: URL}")
      return nil
    }
    return isComplete ? server : nil
  }

  private func readClientID(_ entry: Entry) -> String? {
    guard let id = entry.string(expected: "the client's identifier") else { return nil }
    guard ASCII.isPrintable(id) else {
      entry.report("must be printable ASCII")
      return nil
    }
    return id
  }

  /// RFC 6749 §2.3.1: a secret, and how it is shown; nil when they don't fit together.
  private func readClientAuthentication(
    _ section: Section
  ) -> (method: ClientProfile.Authentication, secret: SecretReference?)? {
    let secretEntry = section["client_secret"]
    let secret = secretEntry.flatMap(readSecret)
    guard let entry = section["client_auth"] else {
      guard secretEntry != nil else { return (.none, nil) }
      return secret.map { (.basic, $0) }
    }
    let methods: KeyValuePairs = ["none": ClientProfile.Authentication.none, "basic": .basic, "post": .post]
    guard let method = entry.choice(methods, later: LaterVersions.clientAuthentications) else { return nil }
    switch (method, secretEntry) {
    case (.none, nil): return (.none, nil)
    case (.none, .some(let secretEntry)):
      secretEntry.reportKey("is not sent with client_auth: none")
      return nil
    case (_, nil):
      _ = section.required("client_secret", "is required by client_auth: \(method.rawValue)")
      return nil
    case (_, .some): return secret.map { (method, $0) }
    }
  }
}
