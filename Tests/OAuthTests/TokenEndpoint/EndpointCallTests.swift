import Cryptography
import HTTPWire
import OAuth
import Testing

private let challengeBody = #"{"error":"use_dpop_nonce","error_description":"a nonce is wanted"}"#
private let tokenBody = #"{"access_token":"t","token_type":"DPoP","expires_in":60}"#

struct EndpointCallTests {
  let key = ProofKey.generate()
  let endpoint: HTTPURL

  init() throws { endpoint = try HTTPURL(parsing: "https://id.example.com/token?tenant=1") }

  private func call(proof: Bool = true) -> EndpointCall {
    let request = ClientCredentialsGrant().request(endpoint: endpoint, authentication: .none(clientID: "c"))
    return EndpointCall(request, proofKey: proof ? key : nil)
  }

  /// Plays the answers as a caller does that keeps the last nonce, and returns the requests.
  private func requests(_ answers: [HTTPResponse], nonce: String? = nil, proof: Bool = true) throws -> [HTTPRequest] {
    var call = call(proof: proof)
    var known = nonce.flatMap { NonceValue($0) }
    var requests: [HTTPRequest] = []
    for answer in answers {
      requests.append(try call.send(nonce: known, issuedAtUnixSeconds: 1_800_000_000))
      known = EndpointCall.nonce(of: answer) ?? known
      if call.judge(answer) == .final { break }
    }
    return requests
  }

  private func proof(of request: HTTPRequest) throws -> (claims: JSONValue, key: JWK?) {
    try readProof(try #require(request.field("DPoP")))
  }

  @Test func `C23 the very first token request has a proof`() throws {
    let request = try requests([HTTPResponse(200, tokenBody)])[0]
    let (claims, embedded) = try proof(of: request)
    #expect(claims["htm"]?.stringValue == "POST")
    #expect(claims["htu"]?.stringValue == "https://id.example.com/token")
    #expect(claims["iat"]?.int64Value == 1_800_000_000)
    #expect(claims["nonce"] == nil)
    #expect(embedded?.thumbprint == key.thumbprint)
  }

  @Test func `C29 a proof for an endpoint has no ath`() throws {
    let request = try requests([HTTPResponse(200, tokenBody)], nonce: "n")[0]
    let names = try proof(of: request).claims.objectValue?.map(\.0).sorted()
    #expect(names == ["htm", "htu", "iat", "jti", "nonce"])
  }

  @Test(arguments: [400, 401])
  func `C15 a challenge is answered once with its nonce and a new jti`(status: Int) throws {
    let sent = try requests([
      HTTPResponse(status, challengeBody, [("DPoP-Nonce", "n1")]), HTTPResponse(200, tokenBody),
    ])
    #expect(sent.count == 2)
    let (first, second) = (try proof(of: sent[0]), try proof(of: sent[1]))
    #expect(first.claims["nonce"] == nil)
    #expect(second.claims["nonce"]?.stringValue == "n1")
    #expect(first.claims["jti"] != second.claims["jti"])
    #expect(first.key == second.key)
    #expect(sent[0].body == sent[1].body)
  }

  @Test func `C4 C5 an expired nonce is replaced once`() throws {
    let sent = try requests(
      [HTTPResponse(400, challengeBody, [("DPoP-Nonce", "n2")]), HTTPResponse(200, tokenBody)], nonce: "n1")
    #expect(try sent.map { try proof(of: $0).claims["nonce"]?.stringValue } == ["n1", "n2"])
  }

  @Test(arguments: [
    [], [("DPoP-Nonce", "n1")], [("DPoP-Nonce", "n2"), ("DPoP-Nonce", "n2")],
    [("DPoP-Nonce", "n2"), ("dpop-nonce", "n3")], [("DPoP-Nonce", "")], [("DPoP-Nonce", "a b")],
  ])
  func `C11 C30 a challenge without one new nonce is one token request`(fields: [(String, String)]) throws {
    let answers = Array(repeating: HTTPResponse(400, challengeBody, fields), count: 4)
    #expect(try requests(answers, nonce: "n1").count == 1)
  }

  @Test func `C12 a server that always gives another nonce is asked twice`() throws {
    let answers = (0..<5).map { HTTPResponse(400, challengeBody, [("DPoP-Nonce", "n\($0)")]) }
    #expect(try requests(answers).count == 2)
  }

  @Test(arguments: [
    (200, challengeBody), (403, challengeBody), (500, challengeBody), (400, #"{"error":"invalid_dpop_proof"}"#),
    (400, #"{"error":"invalid_grant","error_description":"use_dpop_nonce"}"#), (400, "use_dpop_nonce"), (400, ""),
    (400, #"{"error":"USE_DPOP_NONCE"}"#),
  ])
  func `C20 only the error code asks for a nonce`(status: Int, body: String) throws {
    #expect(try requests(Array(repeating: HTTPResponse(status, body, [("DPoP-Nonce", "n")]), count: 3)).count == 1)
  }

  @Test func `without a proof there is no answer to a challenge`() throws {
    let answers = Array(repeating: HTTPResponse(400, challengeBody, [("DPoP-Nonce", "n")]), count: 3)
    let sent = try requests(answers, proof: false)
    #expect(sent.count == 1)
    #expect(sent[0].field("DPoP") == nil)
  }

  @Test func `a call knows whether the last answer gave a new nonce`() throws {
    var call = call()
    _ = try call.send(nonce: NonceValue("n1"), issuedAtUnixSeconds: 1)
    _ = call.judge(HTTPResponse(503, "", [("DPoP-Nonce", "n2")]))
    #expect(call.newNonceWasOffered)
    _ = call.judge(HTTPResponse(503, "", [("DPoP-Nonce", "n1")]))
    #expect(!call.newNonceWasOffered)
  }
}
