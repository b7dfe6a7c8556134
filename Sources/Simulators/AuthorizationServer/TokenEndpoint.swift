import Cryptography
import HTTPWire

/// `POST /token` for the client credentials grant. RFC 6749 §4.4, RFC 9449 §5
struct TokenEndpoint: Sendable {
  let state: SimulationState
  private var gate: ProofGate { ProofGate(role: .authorizationServer, state: state) }

  func outcome(of head: ReceivedHead, _ body: ReceivedBody) -> Outcome {
    let settings = state.settings.withLock { $0.authorizationServer }
    var proof: DPoPProof?
    do {
      let form = try TokenForm(head, body)
      let client = try ClientAuthentication.identify(head, form, settings.clients)
      guard form["grant_type"] == "client_credentials" else {
        throw TokenRefusal(.grantUnsupported, "only client_credentials is known here")
      }
      let request = try request(form, client, settings)
      let admission = try admit(head, settings)
      proof = admission?.proof
      let answer = try issue(request, jkt: proof?.thumbprint, settings)
      return Outcome(answer: answer.adding(admission?.fields ?? []), verdict: .accepted, proof: proof)
    } catch let refusal as TokenRefusal {
      return Outcome(answer: refusal.answer, verdict: refusal.verdict, detail: refusal.detail, proof: proof)
    } catch let refusal as ProofGate.Refusal {
      return Outcome(
        answer: answer(to: refusal, settings.server.nonce.challenge), verdict: refusal.defect.verdict,
        detail: refusal.defect.detail, proof: refusal.proof)
    } catch {
      return Outcome(answer: .text(500, "The token could not be signed."), verdict: .accepted, proof: proof)
    }
  }

  private struct Request {
    var client: SimulatedClient
    var audiences: [String]
    var scope: String?
  }

  /// `audience` as Auth0 has it, `resource` by RFC 8707 §2.
  private func request(
    _ form: TokenForm, _ client: SimulatedClient, _ settings: AuthorizationServerSettings
  ) throws -> Request {
    let asked = form.all("audience") + form.all("resource")
    guard settings.audiences.isEmpty || asked.allSatisfy(settings.audiences.contains) else {
      throw TokenRefusal(.targetInvalid, "an audience or resource is not known here")
    }
    if let allowed = settings.scopes, let scope = form["scope"],
      !scope.split(separator: " ").allSatisfy({ allowed.contains(String($0)) })
    {
      throw TokenRefusal(.scopeInvalid, "a scope is not known here")
    }
    let standard = settings.audiences.first ?? state.origin(of: .api)
    return Request(client: client, audiences: asked.isEmpty ? [standard] : asked, scope: form["scope"])
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

  /// RFC 6749 §5.1, RFC 9449 §5
  private func issue(_ request: Request, jkt: String?, _ settings: AuthorizationServerSettings) throws -> Answer {
    let now = state.now(at: .authorizationServer)
    let token = IssuedToken(
      number: 0, clientID: request.client.id, audiences: request.audiences, scope: request.scope, jkt: jkt,
      issuedAtUnixSeconds: now, expiresAtUnixSeconds: now + Int64(settings.tokenLifetimeSeconds))
    let issuer = settings.server.externalURL ?? state.origin(of: .authorizationServer)
    let text = try state.tokens.issue(token, issuer: issuer, format: settings.tokenFormat)
    var members: [(String, JSONValue)] = [
      ("access_token", .string(text)),
      ("token_type", .string(settings.tokenTypeSpelling ?? (jkt == nil ? "Bearer" : "DPoP"))),
    ]
    switch settings.expiresIn {
    case .number: members.append(("expires_in", .integer(Int64(settings.tokenLifetimeSeconds))))
    case .string: members.append(("expires_in", .string("\(settings.tokenLifetimeSeconds)")))
    case .omitted: break
    }
    if let scope = request.scope { members.append(("scope", .string(scope))) }
    return .json(200, .object(members))
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
    guard verdict == .clientInvalid else { return Self.json(400, verdict.rawValue, detail) }
    let fields = triedBasic ? [HTTPField(name: "WWW-Authenticate", value: #"Basic realm="token""#)] : []
    return Self.json(401, verdict.rawValue, detail).adding(fields)
  }

  static func json(_ status: Int, _ error: String, _ detail: String) -> Answer {
    .json(status, .object([("error", .string(error)), ("error_description", .string(detail))]))
  }
}
