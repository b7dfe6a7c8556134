import Cryptography
import HTTPWire

/// `POST /token`. RFC 6749 §3.2, RFC 9449 §5
struct TokenEndpoint: Sendable {
  let state: SimulationState
  private var gate: ProofGate { ProofGate(role: .authorizationServer, state: state) }

  func outcome(of head: ReceivedHead, _ body: ReceivedBody) -> Outcome {
    let settings = state.settings.withLock { $0.authorizationServer }
    var record: TokenRequestRecord?
    var proof: DPoPProof?
    var outcome: Outcome
    do {
      let form = try TokenForm(head, body)
      let client = try ClientAuthentication(state: state, clients: settings.clients).identify(head, form)
      let flow = try flow(of: TokenRequest(client: client, form: form, settings: settings, state: state))
      record = flow.record
      let draft = try flow.draft()
      let admission = try admit(head, settings)
      proof = admission?.proof
      let entitlement = try flow.complete(draft, jkt: proof?.thumbprint)
      record?.grant = entitlement.grant?.id
      let answer = try TokenAnswer(entitlement: entitlement, settings: settings, state: state)
        .make(jkt: proof?.thumbprint)
      outcome = Outcome(answer: answer.adding(admission?.fields ?? []), verdict: .accepted)
    } catch let refusal as TokenRefusal {
      outcome = Outcome(answer: refusal.answer, verdict: refusal.verdict, detail: refusal.detail)
    } catch let refusal as ProofGate.Refusal {
      outcome = Outcome(
        answer: answer(to: refusal, settings.server.nonce.challenge), verdict: refusal.defect.verdict,
        detail: refusal.defect.detail)
      proof = refusal.proof
    } catch {
      outcome = Outcome(answer: .text(500, "The token could not be signed."), verdict: .accepted)
    }
    outcome.proof = proof
    outcome.tokenRequest = record
    return outcome
  }

  private func flow(of request: TokenRequest) throws(TokenRefusal) -> any GrantFlow {
    switch request.form["grant_type"].flatMap({ GrantType(rawValue: $0) }) {
    case .clientCredentials: ClientCredentialsFlow(request: request)
    case .refreshToken: RefreshTokenFlow(request)
    case .password: PasswordFlow(request: request)
    case .jwtBearer: JWTBearerFlow(request: request)
    case .tokenExchange: TokenExchangeFlow(request: request)
    case nil: throw TokenRefusal(.grantUnsupported, "this grant_type is not known here")
    }
  }

  /// nil: the token will be a Bearer token.
  private func admit(
    _ head: ReceivedHead, _ settings: AuthorizationServerSettings
  ) throws(ProofGate.Refusal) -> ProofGate.Admission? {
    switch settings.binding {
    case .ignored: nil
    case .optional where head.values(of: "dpop").isEmpty: nil
    case .required, .optional: try gate.admit(head, accessToken: nil)
    }
  }

  /// RFC 9449 §5, §8
  private func answer(to refusal: ProofGate.Refusal, _ challenge: NonceChallenge) -> Answer {
    guard let nonce = refusal.challengeNonce else {
      return TokenRefusal.json(400, "invalid_dpop_proof", refusal.defect.detail)
    }
    let status = challenge.status ?? 400
    var answer = TokenRefusal.json(status, "use_dpop_nonce", "Authorization server requires nonce in DPoP proof")
    if status == 401 { answer.fields += Challenges.nonce(challenge) }
    return answer.adding(gate.nonceFields(nonce))
  }
}

/// Why the token endpoint gives no token. RFC 6749 §5.2
struct TokenRefusal: Error {
  var verdict: Verdict
  var detail: String
  /// Whether the client tried Basic, which the answer must then name.
  var triedBasic = false

  init(_ verdict: Verdict, _ detail: String, triedBasic: Bool = false) {
    self.verdict = verdict
    self.detail = detail
    self.triedBasic = triedBasic
  }

  var answer: Answer {
    guard verdict == .clientInvalid else { return Self.json(400, verdict.tokenError, detail) }
    let fields = triedBasic ? [HTTPField(name: "WWW-Authenticate", value: #"Basic realm="token""#)] : []
    return Self.json(401, verdict.rawValue, detail).adding(fields)
  }

  static func json(_ status: Int, _ error: String, _ detail: String) -> Answer {
    .json(status, .object([("error", .string(error)), ("error_description", .string(detail))]))
  }
}
