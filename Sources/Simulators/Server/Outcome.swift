import HTTPWire

/// What a server makes of one request: the answer, and the reason for it that only the journal shows.
struct Outcome: Sendable {
  var answer: Answer
  var verdict: Verdict
  /// For people; never a secret of the request.
  var detail = ""
  var proof: DPoPProof?
  /// nil but for a request to the token endpoint that names a client and a grant type.
  var tokenRequest: TokenRequestRecord?
}

/// What a server makes of a request's head, before it has read the body.
enum Admission: Sendable {
  case refused(Outcome)
  case granted(Grant)
}

/// What an admitted request proved, and what its answer must say for it.
struct Grant: Sendable {
  /// `DPoP-Nonce`, if the answer is to carry one.
  var fields: [HTTPField] = []
  var scheme: String?
  var scope: String?
  var proof: DPoPProof?
  var token: IssuedToken?
}

/// One of the two simulated servers.
protocol SimulatedService: Sendable {
  var role: Role { get }

  /// Judges the head alone.
  func admit(_ head: ReceivedHead) -> Admission

  /// The answer to an admitted request.
  func outcome(of head: ReceivedHead, _ body: ReceivedBody, _ grant: Grant) -> Outcome
}
