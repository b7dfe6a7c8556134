import HTTPWire

extension ReadingContext {
  func readClientProfile(_ section: Section) -> ClientProfile? {
    let allowInsecure = section.boolean("allow_insecure", default: false)
    let server = readAuthorizationServer(section, allowInsecure: allowInsecure)
    let clientID = section.required("client_id").flatMap(readClientID)
    let grant = readGrant(section, clientID: clientID)
    let tls = section["tls"].flatMap { Section($0, KeyTable.issuerTLS) }
    let authorities = tls.flatMap(readCertificateAuthorityFile)
    let certificate = tls.flatMap(readClientCertificate)
    let authentication = readClientAuthentication(section, tls: tls)
    let target = readTokenTarget(section)
    let dpop = section.boolean("dpop", default: false)
    let allowBearer = section.boolean("allow_bearer", default: false)
    if allowBearer, !dpop { section["allow_bearer"]?.reportKey("has a meaning with dpop: true only") }
    if certificate != nil, let url = server?.tokenEndpoint ?? server?.issuerURL, url.scheme == .http {
      tls?["certificate"]?.reportKey("has a meaning with an https authorization server only")
    }

    guard let server, let grant, let clientID, let authentication else { return nil }
    return ClientProfile(
      issuer: server.issuer, issuerURL: server.issuerURL, tokenEndpoint: server.tokenEndpoint, grant: grant.grant,
      clientID: clientID, authentication: authentication, clientCertificate: certificate, target: target,
      targetMethod: grant.targetMethod, dpop: dpop, allowBearer: allowBearer, allowInsecure: allowInsecure,
      certificateAuthorityFile: authorities)
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
}
