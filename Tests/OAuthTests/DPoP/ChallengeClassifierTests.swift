import OAuth
import Testing

struct ChallengeClassifierTests {
  @Test(
    arguments: [
      ([], .bare),
      (["DPoP"], .bare),
      (["DPoP algs=\"ES256 PS256\", Bearer"], .bare),
      (["DPoP error=\"use_dpop_nonce\""], .useDPoPNonce),
      (["Basic realm=\"r\", DPoP error=\"use_dpop_nonce\", algs=\"ES256\""], .useDPoPNonce),
      (["Bearer error=\"invalid_token\", DPoP error=\"use_dpop_nonce\""], .useDPoPNonce),
      (["Bearer error=\"invalid_token\"", "DPoP error=use_dpop_nonce"], .useDPoPNonce),
      (["DPoP error=\"invalid_token\", error_description=\"use_dpop_nonce\""], .invalidToken),
      (["Bearer error=\"use_dpop_nonce\""], .otherError),
      (["DPoP error=\"invalid_dpop_proof\""], .otherError),
      (["DPoP error=\"invalid_dpop_proof\"", "Bearer error=\"insufficient_scope\""], .insufficientScope),
      (["DPoP error=\"insufficient_user_authentication\", acr_values=\"x\""], .insufficientUserAuthentication),
      (["Bearer error=\"invalid_token\"", "Bearer error=\"insufficient_scope\""], .insufficientScope),
      (["Negotiate error=\"invalid_token\""], .otherError),
    ] as [([String], ChallengeVerdict)])
  func `C53 C55 the error of each scheme is its own`(values: [String], expected: ChallengeVerdict) {
    #expect(ChallengeClassifier.verdict(fieldValues: values, proofWasSent: true) == expected)
  }

  @Test func `C52 a Bearer challenge with invalid_token counts for a request with a proof`() {
    let verdict = ChallengeClassifier.verdict(fieldValues: ["Bearer error=\"invalid_token\""], proofWasSent: true)
    #expect(verdict == .invalidToken)
  }

  @Test(arguments: ["dpop ERROR=\"use_dpop_nonce\"", "DPOP Error = use_dpop_nonce", "dPoP  error=\"use_dpop_\\nonce\""])
  func `C56 schemes and names of parameters have no case`(value: String) {
    #expect(ChallengeClassifier.verdict(fieldValues: [value], proofWasSent: true) == .useDPoPNonce)
  }

  @Test func `a DPoP error says nothing about a bearer token`() {
    let values = ["DPoP error=\"invalid_token\""]
    #expect(ChallengeClassifier.verdict(fieldValues: values, proofWasSent: false) == .otherError)
    let nonce = ["DPoP error=\"use_dpop_nonce\"", "Bearer error=\"invalid_token\""]
    #expect(ChallengeClassifier.verdict(fieldValues: nonce, proofWasSent: false) == .invalidToken)
  }

  @Test(arguments: [
    (#"{"error":"use_dpop_nonce"}"#, true), (#" {"error_description":"x","error":"use_dpop_nonce"}"#, true),
    (#"{"error":"invalid_token"}"#, false), (#"{"error":["use_dpop_nonce"]}"#, false), (#""use_dpop_nonce""#, false),
    ("use_dpop_nonce", false), ("", false), (#"{"error":"use_dpop_nonce""#, false),
  ])
  func `a body demands a nonce by its error member alone`(body: String, expected: Bool) {
    #expect(ChallengeClassifier.bodyDemandsNonce(Array(body.utf8)) == expected)
  }

  @Test func `a body beyond the limit demands nothing`() {
    let padding = String(repeating: " ", count: ResponseSignal.peekBytesMax)
    #expect(!ChallengeClassifier.bodyDemandsNonce(Array((#"{"error":"use_dpop_nonce"}"# + padding).utf8)))
  }
}
