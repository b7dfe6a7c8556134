import Cryptography
import HTTPWire
import OAuth
import Testing

/// The assertions of the JWT bearer grant. RFC 7523 §3
struct JWTAssertionTests {
  let endpoint: HTTPURL
  let key: SigningKey

  init() throws {
    endpoint = try HTTPURL(parsing: "https://id.example.com/token")
    key = try Signers.key()
  }

  private func assertion(
    audience: String? = nil, lifetimeSeconds: Int64 = 60, claims: [(String, JSONValue)] = []
  ) throws -> JWTAssertion {
    try JWTAssertion(
      issuer: "service", subject: "user@example.com", audience: audience, lifetimeSeconds: lifetimeSeconds,
      claims: claims, signer: JWSSigner(key: key))
  }

  @Test func `an assertion says who vouches for whom, to whom and how long`() throws {
    let assertion = try assertion(
      audience: "https://id.example.com", lifetimeSeconds: 3600, claims: [("scope", "a b"), ("level", 2)])
    let claims = try Signers.claims(assertion.sign(for: endpoint, issuedAtUnixSeconds: 1_800_000_000), key: key)
    #expect(claims["iss"]?.stringValue == "service")
    #expect(claims["sub"]?.stringValue == "user@example.com")
    #expect(claims["aud"]?.stringValue == "https://id.example.com")
    #expect(claims["iat"]?.int64Value == 1_800_000_000)
    #expect(claims["exp"]?.int64Value == 1_800_003_600)
    #expect(claims["scope"]?.stringValue == "a b")
    #expect(claims["level"]?.int64Value == 2)
  }

  @Test func `without an audience it is for the endpoint`() throws {
    let claims = try Signers.claims(assertion().sign(for: endpoint, issuedAtUnixSeconds: 1), key: key)
    #expect(claims["aud"]?.stringValue == "https://id.example.com/token")
  }

  @Test(arguments: [Int64.min, -1, 0, 3601])
  func `a lifetime that no server takes is refused`(seconds: Int64) {
    #expect(throws: JWTAssertion.Violation.lifetime) { try assertion(lifetimeSeconds: seconds) }
  }

  @Test(arguments: ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"])
  func `what the assertion says itself can't be said by further claims`(name: String) {
    #expect(throws: JWTAssertion.Violation.reservedClaim(name)) { try assertion(claims: [(name, "x")]) }
  }

  @Test func `no claim is there twice`() {
    #expect(throws: JWTAssertion.Violation.claimTwice("a")) { try assertion(claims: [("a", "x"), ("a", "y")]) }
  }

  @Test func `C26 a grant by an assertion of ours signs another for every send`() throws {
    let grant = JWTBearerGrant(assertion: .signed(try assertion()))
    var call = EndpointCall(
      grant.request(endpoint: endpoint, authentication: .none(clientID: "c")), proofKey: ProofKey.generate())
    let first = try call.send(nonce: nil, issuedAtUnixSeconds: 1)
    #expect(
      call.judge(HTTPResponse(400, #"{"error":"use_dpop_nonce"}"#, [("DPoP-Nonce", "n")])) == .sendAgain)
    let second = try call.send(nonce: NonceValue("n"), issuedAtUnixSeconds: 2)
    let claims = try [first, second].map { request in
      #expect(request.form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"])
      return try Signers.claims(try #require(request.form["assertion"]?.first), key: key)
    }
    #expect(claims[0]["jti"] != claims[1]["jti"])
    #expect(claims.map { $0["exp"]?.int64Value } == [61, 62])
  }

  @Test func `a grant that signs with a secret knows what its answer must not show`() throws {
    let signed = try JWTAssertion(
      issuer: "c", subject: "u", audience: nil, signer: JWSSigner(secret: Signers.sharedSecret))
    let request = JWTBearerGrant(assertion: .signed(signed)).request(
      endpoint: endpoint, authentication: .none(clientID: "c"))
    #expect(request.secrets == [Signers.sharedSecret])
    var dumped = ""
    dump(request, to: &dumped)
    #expect(!dumped.contains("sentinel"))
  }
}
