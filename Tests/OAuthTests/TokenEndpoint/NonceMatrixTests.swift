import Cryptography
import HTTPWire
import OAuth
import Testing

/// C10: there is one place where a nonce challenge is answered, for whatever is asked and however the client
/// authenticates itself.
struct NonceMatrixTests {
  private static func requests() throws -> [(String, (ClientAuthentication) throws -> EndpointRequest)] {
    let token = Secret(utf8: "token")
    let endpoint = try HTTPURL(parsing: "https://id.example.com/token")
    let grants: [any TokenGrant] = [
      ClientCredentialsGrant(), RefreshTokenGrant(refreshToken: token), JWTBearerGrant(assertion: .given(token)),
      JWTBearerGrant(
        assertion: .signed(
          try JWTAssertion(issuer: "c", subject: "u", audience: nil, signer: JWSSigner(key: Signers.key())))),
      TokenExchangeGrant(subject: .init(token)), ResourceOwnerPasswordGrant(username: "u", password: token),
    ]
    return grants.map { grant in
      ("\(type(of: grant))", { grant.request(endpoint: endpoint, authentication: $0) })
    } + [
      ("revocation", { RevocationRequest(token: token, hint: nil).request(endpoint: endpoint, authentication: $0) })
    ]
  }

  private static func authentications() throws -> [ClientAuthentication] {
    [
      .none(clientID: "c"), .basic(clientID: "c", secret: Signers.sharedSecret),
      .post(clientID: "c", secret: Signers.sharedSecret), .tls(clientID: "c"),
      .assertion(clientID: "c", audience: nil, signer: try JWSSigner(key: Signers.key())),
      .assertion(clientID: "c", audience: nil, signer: try JWSSigner(secret: Signers.sharedSecret)),
    ]
  }

  /// What is made anew for every send.
  private static let perSend: Set = ["client_assertion", "assertion"]

  @Test func `C10 C26 every request answers a challenge once, with all that is good for one send made anew`() throws {
    let key = ProofKey.generate()
    for (name, make) in try Self.requests() {
      for authentication in try Self.authentications() {
        var call = EndpointCall(try make(authentication), proofKey: key)
        let first = try call.send(nonce: nil, issuedAtUnixSeconds: 1)
        let challenge = HTTPResponse(400, #"{"error":"use_dpop_nonce"}"#, [("DPoP-Nonce", "n1")])
        #expect(call.judge(challenge) == .sendAgain, "\(name)")
        let second = try call.send(nonce: EndpointCall.nonce(of: challenge), issuedAtUnixSeconds: 2)
        #expect(call.judge(HTTPResponse(400, #"{"error":"use_dpop_nonce"}"#, [("DPoP-Nonce", "n2")])) == .final)

        let proofs = try [first, second].map { try readProof(try #require($0.field("DPoP"))).claims }
        #expect(proofs.map { $0["nonce"]?.stringValue } == [nil, "n1"])
        #expect(proofs[0]["jti"] != proofs[1]["jti"])
        #expect(first.field("Authorization") == second.field("Authorization"))
        #expect(Set(first.form.keys) == Set(second.form.keys))
        for (parameter, values) in first.form {
          // A given assertion is the same again; one of ours has three segments, and is another.
          let isOurs = Self.perSend.contains(parameter) && values[0].contains(".")
          #expect((values != second.form[parameter]) == isOurs, "\(name): \(parameter)")
        }
      }
    }
  }
}
