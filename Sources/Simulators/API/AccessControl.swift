import Cryptography
import HTTPWire

/// Judges the credential of a request to a protected resource: the API's, or `/userinfo`.
struct AccessControl: Sendable {
  let role: Role
  let state: SimulationState
  private var gate: ProofGate { ProofGate(role: role, state: state) }

  func admit(_ head: ReceivedHead) -> Admission {
    do {
      switch state.settings.withLock({ $0.api.access }) {
      case .none: return .granted(Grant())
      case .dpop: return .granted(try dpop(head))
      case .bearer(let tokens): return .granted(try bearer(head, tokens))
      case .basic(let username, let password): return .granted(try basic(head, username, password))
      case .field(let name, let value): return .granted(try key(head.values(of: name.lowercased()), value))
      case .query(let name, let value):
        return .granted(try key(head.parameters.filter { $0.name == name }.map(\.value), value))
      }
    } catch {
      return .refused(error.outcome)
    }
  }

  /// Demands a token of a login, with a proof if it is bound. OpenID Connect Core §5.3.1, RFC 9449 §7.2
  func admitLogin(_ head: ReceivedHead) -> Admission {
    let isBearer = head.values(of: "authorization").first?.hasPrefix("Bearer ") == true
    do {
      let grant = isBearer ? try bearer(head, [], takesBound: false) : try dpop(head)
      return .granted(grant)
    } catch {
      return .refused(error.outcome)
    }
  }

  private struct Refusal: Error {
    var outcome: Outcome

    init(
      _ verdict: Verdict, status: Int = 401, _ text: String, _ fields: [HTTPField], proof: DPoPProof? = nil
    ) {
      outcome = Outcome(
        answer: .text(status, text, fields: fields), verdict: verdict, detail: text, proof: proof)
    }

    init(_ outcome: Outcome) { self.outcome = outcome }
  }

  /// RFC 9449 §7.1
  private func dpop(_ head: ReceivedHead) throws(Refusal) -> Grant {
    let text = try token(head, scheme: "DPoP", challenge: Challenges.dpop(), repeated: Challenges.dpop)
    let judgesTokenFirst = state.settings.withLock { $0.api.judgesTokenFirst }
    var token: IssuedToken?
    if judgesTokenFirst { token = try valid(text, Challenges.dpop) }
    let admission: ProofGate.Admission
    do { admission = try gate.admit(head, accessToken: text) } catch { throw Refusal(outcome(of: error)) }
    let proof = admission.proof
    do throws(Refusal) {
      let token = if let token { token } else { try valid(text, Challenges.dpop) }
      guard token.jkt == proof.thumbprint else {
        throw Refusal(
          .tokenBinding, "The token is bound to another key, or to none.",
          Challenges.dpop(error: "invalid_token", .tokenBinding))
      }
      return Grant(fields: admission.fields, scheme: "DPoP", scope: token.scope, proof: proof, token: token)
    } catch {
      var outcome = error.outcome
      outcome.proof = proof
      outcome.answer.fields += admission.fields
      throw Refusal(outcome)
    }
  }

  /// A bound token is accepted too, as by an API that knows nothing of DPoP. RFC 9449 §7.2
  private func bearer(
    _ head: ReceivedHead, _ tokens: [String], takesBound: Bool = true
  ) throws(Refusal) -> Grant {
    let challenge = { (error: String?, _: Verdict?) in Challenges.bearer(error: error) }
    let text = try token(head, scheme: "Bearer", challenge: Challenges.bearer(error: nil), repeated: challenge)
    if tokens.contains(text) { return Grant(scheme: "Bearer") }
    let token = try valid(text, challenge)
    guard takesBound || token.jkt == nil else {
      throw Refusal(.tokenBinding, "The token is bound to a key.", Challenges.bearer(error: "invalid_token"))
    }
    return Grant(scheme: "Bearer", scope: token.scope, token: token)
  }

  private func basic(_ head: ReceivedHead, _ username: String, _ password: String) throws(Refusal) -> Grant {
    let challenge = [Challenges.field(#"Basic realm="api", charset="UTF-8""#)]
    let fields = head.values(of: "authorization")
    guard let field = fields.first else { throw Refusal(.credentialMissing, "Credentials are needed.", challenge) }
    guard fields.count == 1 else { throw Refusal(.credentialRepeated, status: 400, "One Authorization field.", []) }
    guard let (name, secret) = BasicCredentials.parse(field, formEncoded: false) else {
      throw Refusal(.schemeWrong, "Basic is needed.", challenge)
    }
    guard name == username, Secret(utf8: secret) == Secret(utf8: password) else {
      throw Refusal(.credentialWrong, "Username or password is wrong.", challenge)
    }
    return Grant(scheme: "Basic")
  }

  private func key(_ values: [String], _ expected: String) throws(Refusal) -> Grant {
    guard let value = values.first else { throw Refusal(.credentialMissing, "A key is needed.", []) }
    guard values.count == 1 else { throw Refusal(.credentialRepeated, status: 400, "One key is enough.", []) }
    guard Secret(utf8: value) == Secret(utf8: expected) else {
      throw Refusal(.credentialWrong, "The key is wrong.", [])
    }
    return Grant()
  }

  /// The token of the one `Authorization` field, whose scheme must be spelt exactly as the RFCs spell it.
  private func token(
    _ head: ReceivedHead, scheme: String, challenge: [HTTPField],
    repeated: (String?, Verdict?) -> [HTTPField]
  ) throws(Refusal) -> String {
    let fields = head.values(of: "authorization")
    guard let field = fields.first else { throw Refusal(.credentialMissing, "A token is needed.", challenge) }
    guard fields.count == 1 else {
      throw Refusal(
        .credentialRepeated, status: 400, "One Authorization field.", repeated("invalid_request", .credentialRepeated))
    }
    let parts = field.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0] == scheme, !parts[1].isEmpty else {
      throw Refusal(.schemeWrong, "The scheme must be \(scheme).", challenge)
    }
    return String(parts[1])
  }

  private func valid(_ text: String, _ challenge: (String?, Verdict?) -> [HTTPField]) throws(Refusal) -> IssuedToken {
    func refusal(_ verdict: Verdict, _ text: String) -> Refusal {
      Refusal(verdict, text, challenge("invalid_token", verdict))
    }
    guard let token = state.tokens.find(text) else { throw refusal(.tokenUnknown, "The token is not known.") }
    guard !state.isRevoked(token) else { throw refusal(.tokenRevoked, "The token is revoked.") }
    guard !state.isExpired(token, at: role) else { throw refusal(.tokenExpired, "The token is expired.") }
    guard role == .authorizationServer || token.audiences.contains(where: ownAudiences.contains) else {
      throw refusal(.tokenAudience, "The token is for another API.")
    }
    return token
  }

  private var ownAudiences: [String] {
    let settings = state.settings.withLock { $0 }
    let own = settings.api.audiences.isEmpty ? settings.authorizationServer.audiences : settings.api.audiences
    return own.isEmpty ? [state.origin(of: .api)] : own
  }

  /// RFC 9449 §7.1, §9
  private func outcome(of refusal: ProofGate.Refusal) -> Outcome {
    let verdict = refusal.defect.verdict
    guard let nonce = refusal.challengeNonce else {
      return Outcome(
        answer: .text(401, "The proof is refused.", fields: Challenges.dpop(error: "invalid_dpop_proof", verdict)),
        verdict: verdict, detail: refusal.defect.detail, proof: refusal.proof)
    }
    let style = state.serverSettings(of: role).nonce.challenge
    let status = style.status ?? 401
    let error = JSONValue.object([("error", .string("use_dpop_nonce"))])
    var answer = style.place == .field ? Answer.text(status, "A nonce is needed.") : Answer.json(status, error)
    if style.place != .body { answer.fields += Challenges.nonce(style) }
    return Outcome(
      answer: answer.adding(gate.nonceFields(nonce)), verdict: verdict, detail: refusal.defect.detail,
      proof: refusal.proof)
  }
}
