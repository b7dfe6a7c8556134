import Cryptography
import HTTPWire
import OAuth
import Testing

/// `private_key_jwt` and `client_secret_jwt`. RFC 7523 §2.2, OpenID Connect Core 1.0 §9
struct ClientAssertionTests {
  let endpoint: HTTPURL

  init() throws { endpoint = try HTTPURL(parsing: "https://id.example.com/token?tenant=1") }

  /// The requests of a call whose every answer is a nonce challenge.
  private func requests(_ authentication: ClientAuthentication, proofKey: ProofKey?) throws -> [HTTPRequest] {
    let request = ClientCredentialsGrant().request(endpoint: endpoint, authentication: authentication)
    var call = EndpointCall(request, proofKey: proofKey)
    var requests: [HTTPRequest] = []
    var nonce: NonceValue?
    while true {
      requests.append(try call.send(nonce: nonce, issuedAtUnixSeconds: 1_800_000_000 + Int64(requests.count)))
      let answer = HTTPResponse(400, #"{"error":"use_dpop_nonce"}"#, [("DPoP-Nonce", "n\(requests.count)")])
      nonce = EndpointCall.nonce(of: answer)
      if call.judge(answer) == .final { return requests }
    }
  }

  private func assertion(_ request: HTTPRequest) throws -> String {
    let values = try #require(request.form["client_assertion"])
    #expect(values.count == 1)
    return values[0]
  }

  @Test(arguments: [Signers.ec, Signers.ed25519])
  func `RFC 7523 §3 a client vouches for itself to the endpoint, for a minute`(text: String) throws {
    let key = try Signers.key(text)
    let request = try requests(
      .assertion(clientID: "c 1", audience: nil, signer: JWSSigner(key: key)), proofKey: nil)[0]
    #expect(request.form["client_id"] == ["c 1"])
    #expect(
      request.form["client_assertion_type"] == ["urn:ietf:params:oauth:client-assertion-type:jwt-bearer"])
    #expect(request.form["client_secret"] == nil)
    #expect(request.field("Authorization") == nil)
    let claims = try Signers.claims(assertion(request), key: key)
    #expect(claims.objectValue?.map(\.0).sorted() == ["aud", "exp", "iat", "iss", "jti", "sub"])
    #expect(claims["iss"]?.stringValue == "c 1")
    #expect(claims["sub"]?.stringValue == "c 1")
    #expect(claims["aud"]?.stringValue == "https://id.example.com/token?tenant=1")
    #expect(claims["iat"]?.int64Value == 1_800_000_000)
    #expect(claims["exp"]?.int64Value == 1_800_000_060)
    #expect(claims["jti"]?.stringValue?.utf8.count == 22)
  }

  @Test func `the audience can be the issuer, as newer profiles have it`() throws {
    let key = try Signers.key()
    let authentication = ClientAuthentication.assertion(
      clientID: "c", audience: "https://id.example.com", signer: try JWSSigner(key: key))
    let claims = try Signers.claims(assertion(requests(authentication, proofKey: nil)[0]), key: key)
    #expect(claims["aud"]?.stringValue == "https://id.example.com")
  }

  @Test func `C26 the send that answers a nonce challenge has an assertion of its own`() throws {
    let key = try Signers.key()
    let sent = try requests(
      .assertion(clientID: "c", audience: nil, signer: JWSSigner(key: key)), proofKey: ProofKey.generate())
    #expect(sent.count == 2)
    let claims = try sent.map { try Signers.claims(assertion($0), key: key) }
    #expect(claims[0]["jti"] != claims[1]["jti"])
    #expect(claims.map { $0["iat"]?.int64Value } == [1_800_000_000, 1_800_000_001])
  }

  @Test func `client_secret_jwt signs with the secret and sends it nowhere`() throws {
    let authentication = ClientAuthentication.assertion(
      clientID: "c", audience: nil, signer: try JWSSigner(secret: Signers.sharedSecret))
    let request = try requests(authentication, proofKey: nil)[0]
    let segments = try assertion(request).split(separator: ".").map(String.init)
    let header = try JSONValue(parsing: try #require(Base64URL.decode(segments[0])))
    #expect(header == ["alg": "HS256", "typ": "JWT"])
    let code = Array("\(segments[0]).\(segments[1])".utf8).withUnsafeBytes {
      HMACSHA256.authenticate($0, key: Signers.sharedSecret)
    }
    #expect(segments[2] == Base64URL.encode(code))
    #expect(!String(decoding: request.body ?? [], as: UTF8.self).contains("sentinel"))
    #expect(authentication.secret == Signers.sharedSecret)
    #expect(!"\(authentication) \(String(reflecting: authentication))".contains("sentinel"))
  }

  @Test func `a key has no secret that an answer could show`() throws {
    #expect(
      ClientAuthentication.assertion(clientID: "c", audience: nil, signer: try JWSSigner(key: Signers.key())).secret
        == nil)
  }

  @Test func `RFC 8705 §2 a client with a certificate names itself in the body and sends no secret`() throws {
    let authentication = ClientAuthentication.tls(clientID: "c")
    let request = try requests(authentication, proofKey: nil)[0]
    #expect(request.form == ["grant_type": ["client_credentials"], "client_id": ["c"]])
    #expect(request.field("Authorization") == nil)
    #expect(authentication.secret == nil)
    #expect(authentication.usesMutualTLS)
    #expect(!ClientAuthentication.none(clientID: "c").usesMutualTLS)
  }
}
