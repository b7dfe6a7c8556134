import HTTPWire
import OAuth
import Testing

private func document(_ members: String) -> HTTPResponse { HTTPResponse(200, "{\(members)}") }

struct IssuerTests {
  @Test(arguments: [
    (
      "https://id.example.com",
      [
        "https://id.example.com/.well-known/openid-configuration",
        "https://id.example.com/.well-known/oauth-authorization-server",
      ]
    ),
    (
      "https://id.example.com/",
      [
        "https://id.example.com/.well-known/openid-configuration",
        "https://id.example.com/.well-known/oauth-authorization-server",
      ]
    ),
    (
      "https://id.example.com/realms/one",
      [
        "https://id.example.com/realms/one/.well-known/openid-configuration",
        "https://id.example.com/.well-known/oauth-authorization-server/realms/one",
        "https://id.example.com/.well-known/openid-configuration/realms/one",
      ]
    ),
  ])
  func `the well-known path is appended by OpenID Connect and put in front by RFC 8414`(
    issuer: String, expected: [String]
  ) throws {
    #expect(try Issuer(issuer).metadataURLs.map(\.absoluteString) == expected)
  }

  @Test(arguments: ["http://127.0.0.1:9000", "http://[::1]:9000/x", "http://localhost"])
  func `plain http is for this machine`(text: String) throws {
    #expect(try Issuer(text).text == text)
  }

  @Test(arguments: [
    ("http://id.example.com", Issuer.Violation.notSecure), ("https://id.example.com/?a", .hasQuery),
    ("https://id.example.com/#a", .url(.fragment)), ("id.example.com", .url(.scheme)),
  ])
  func `what can't be an issuer is refused`(text: String, violation: Issuer.Violation) {
    #expect(throws: violation) { try Issuer(text) }
  }
}

struct AuthorizationServerMetadataTests {
  let issuer: Issuer

  init() throws { issuer = try Issuer("https://id.example.com/a") }

  private func parse(
    _ members: String, issuer: Issuer? = nil
  ) throws(MetadataDefect) -> AuthorizationServerMetadata {
    try AuthorizationServerMetadata(parsing: document(members).body, issuer: issuer ?? self.issuer)
  }

  @Test func `absent, null and malformed members are the same`() throws {
    let metadata = try parse(
      #""issuer":"https://id.example.com/a","token_endpoint":"https://t.example/token","revocation_endpoint":null,"#
        + #""introspection_endpoint":"ftp://x","dpop_signing_alg_values_supported":null,"grant_types_supported":null"#)
    #expect(metadata.tokenEndpoint.absoluteString == "https://t.example/token")
    #expect(metadata.revocationEndpoint == nil)
    #expect(metadata.introspectionEndpoint == nil)
    try metadata.checkProofAlgorithm()
  }

  @Test func `the places of keys and of user information are read, if they can be used`() throws {
    let required = #""issuer":"https://id.example.com/a","token_endpoint":"https://id.example.com/t""#
    let metadata = try parse(
      required + #","jwks_uri":"https://id.example.com/keys","userinfo_endpoint":"https://id.example.com/me""#)
    #expect(metadata.jwksURI?.absoluteString == "https://id.example.com/keys")
    #expect(metadata.userinfoEndpoint?.absoluteString == "https://id.example.com/me")
    let unsafe = try parse(required + #","jwks_uri":"http://id.example.com/keys","userinfo_endpoint":7"#)
    #expect(unsafe.jwksURI == nil)
    #expect(unsafe.userinfoEndpoint == nil)
  }

  @Test(
    arguments: [
      (
        #"{"token_endpoint":"https://mtls.example.com/t","revocation_endpoint":"https://mtls.example.com/r"}"#,
        "https://mtls.example.com/t", "https://mtls.example.com/r"
      ),
      (#"{"token_endpoint":"https://mtls.example.com/t"}"#, "https://mtls.example.com/t", "https://id.example.com/r"),
      (#"{"token_endpoint":"http://mtls.example.com/t"}"#, "https://id.example.com/t", "https://id.example.com/r"),
      (#"{"token_endpoint":null}"#, "https://id.example.com/t", "https://id.example.com/r"),
      ("[]", "https://id.example.com/t", "https://id.example.com/r"),
      ("null", "https://id.example.com/t", "https://id.example.com/r"),
    ])
  func `RFC 8705 §5 clients with a certificate have endpoints of their own, where there are any`(
    aliases: String, tokens: String, revocation: String
  ) throws {
    let metadata = try parse(
      #""issuer":"https://id.example.com/a","token_endpoint":"https://id.example.com/t","#
        + #""revocation_endpoint":"https://id.example.com/r","mtls_endpoint_aliases":\#(aliases)"#)
    #expect(metadata.tokenEndpoint(mutualTLS: true).absoluteString == tokens)
    #expect(metadata.tokenEndpoint(mutualTLS: false).absoluteString == "https://id.example.com/t")
    #expect(metadata.revocationEndpoint(mutualTLS: true)?.absoluteString == revocation)
    #expect(metadata.revocationEndpoint(mutualTLS: false)?.absoluteString == "https://id.example.com/r")
  }

  @Test func `a server that does not list the grant it has is believed to have it`() throws {
    _ = try parse(
      #""issuer":"https://id.example.com/a","token_endpoint":"https://id.example.com/t","#
        + #""grant_types_supported":["authorization_code"],"token_endpoint_auth_methods_supported":[]"#)
  }

  @Test(arguments: [
    "https://id.example.com/a/", "https://ID.example.com/a", "https://id.example.com:443/a", "https://evil.example/a",
  ])
  func `an issuer that is not the same byte for byte is refused`(stated: String) {
    #expect(throws: MetadataDefect.issuerMismatch(stated: UntrustedText(stated))) {
      try parse(#""issuer":"\#(stated)","token_endpoint":"https://id.example.com/t""#)
    }
  }

  @Test(
    arguments: [
      (#""token_endpoint":"https://id.example.com/t""#, .issuerMissing),
      (#""issuer":"https://id.example.com/a""#, .tokenEndpointMissing),
      (#""issuer":"https://id.example.com/a","token_endpoint":null"#, .tokenEndpointMissing),
      (#""issuer":"https://id.example.com/a","token_endpoint":"/t""#, .tokenEndpointMalformed),
      (#""issuer":"https://id.example.com/a","token_endpoint":"http://id.example.com/t""#, .tokenEndpointNotSecure),
      (#""issuer":"https://id.example.com/a","token_endpoint":"http://127.0.0.1/t""#, .tokenEndpointNotSecure),
    ] as [(String, MetadataDefect)])
  func `each defect has its name`(members: String, defect: MetadataDefect) {
    #expect(throws: defect) { try parse(members) }
  }

  @Test func `an issuer at loopback may have endpoints there and nowhere else in the clear`() throws {
    let local = try Issuer("http://127.0.0.1:9000")
    _ = try parse(#""issuer":"http://127.0.0.1:9000","token_endpoint":"http://localhost:9001/t""#, issuer: local)
    #expect(throws: MetadataDefect.tokenEndpointNotSecure) {
      try parse(#""issuer":"http://127.0.0.1:9000","token_endpoint":"http://10.0.0.1/t""#, issuer: local)
    }
  }

  @Test(arguments: [(#"["RS256","ES256"]"#, true), (#"["RS256"]"#, false), ("[]", false), (#""ES256""#, true)])
  func `A1.2 a server that takes proofs but no ES256 is a mistake of the set-up`(list: String, isFine: Bool) throws {
    let metadata = try parse(
      #""issuer":"https://id.example.com/a","token_endpoint":"https://id.example.com/t","#
        + #""dpop_signing_alg_values_supported":\#(list)"#)
    if isFine {
      try metadata.checkProofAlgorithm()
    } else {
      #expect(throws: OAuthError.noCommonProofAlgorithm) { try metadata.checkProofAlgorithm() }
    }
  }
}

struct MetadataDiscoveryTests {
  let issuer: Issuer
  let good: HTTPResponse

  init() throws {
    issuer = try Issuer("https://id.example.com/a")
    good = document(#""issuer":"https://id.example.com/a","token_endpoint":"https://id.example.com/t""#)
  }

  /// Plays the answers; each request is counted.
  private func discover(
    _ answers: [Result<HTTPResponse, HTTPSendFailure>]
  ) -> (requests: Int, Result<AuthorizationServerMetadata, MetadataFailure>) {
    var discovery = MetadataDiscovery(issuer)
    var answers = answers[...]
    var requests = 0
    while let request = discovery.nextRequest() {
      requests += 1
      #expect(request.method == "GET")
      discovery.judge(answers.popFirst() ?? .success(HTTPResponse(404, "")))
    }
    return (requests, Result { () throws(MetadataFailure) in try discovery.metadata() })
  }

  private func failure(_ answers: [HTTPResponse]) -> MetadataFailure? {
    if case .failure(let failure) = discover(answers.map { .success($0) }).1 { return failure }
    return nil
  }

  @Test(arguments: 0..<3)
  func `the places are tried in turn until one has it`(misses: Int) {
    let answers = Array(repeating: Result<_, HTTPSendFailure>.success(HTTPResponse(404, "")), count: misses)
    let (requests, result) = discover(answers + [.success(good)])
    #expect(requests == misses + 1)
    #expect(throws: Never.self) { try result.get() }
  }

  @Test func `nothing anywhere is not found`() {
    #expect(failure([]) == .notFound(status: 404))
  }

  @Test func `a redirect is not followed`() {
    #expect(failure([HTTPResponse(302, "", [("Location", "https://evil.example/")])]) == .notFound(status: 302))
  }

  @Test func `a page that answers everything does not hide metadata further on`() {
    #expect(discover([.success(HTTPResponse(200, "<html>")), .success(good)]).requests == 2)
  }

  @Test func `of several failures the one that says most is told`() {
    let wrong = document(#""issuer":"https://id.example.com/a/","token_endpoint":"https://id.example.com/t""#)
    let defect = MetadataFailure.defect(.issuerMismatch(stated: UntrustedText("https://id.example.com/a/")))
    #expect(failure([HTTPResponse(503, ""), wrong, HTTPResponse(404, "")]) == defect)
    #expect(failure([HTTPResponse(404, ""), HTTPResponse(200, "<html>")]) == .defect(.notJSON))
  }

  @Test func `a server that is down is asked no more`() {
    let (requests, result) = discover([.failure(.timeout)])
    #expect(requests == 1)
    #expect(throws: MetadataFailure.unreachable(.timeout)) { try result.get() }
  }

  @Test func `a server that asks to wait is asked no more`() {
    let (requests, result) = discover([.success(HTTPResponse(429, "", [("Retry-After", "9")]))])
    #expect(requests == 1)
    #expect(throws: MetadataFailure.unavailable(status: 429, retryAfter: .seconds(9))) { try result.get() }
  }
}
