import HTTPWire

/// The simulated API: a few resources behind one kind of credential.
struct APIServer: SimulatedService {
  let role = Role.api
  let state: SimulationState

  func admit(_ head: ReceivedHead) -> Admission {
    do {
      _ = try RequestURL.of(head, role, state)
    } catch {
      return .refused(.misdirected(error))
    }
    if head.path == Self.metadataPath { return .granted(Grant()) }
    let admission = AccessControl(role: role, state: state).admit(head)
    guard case .granted(let grant) = admission, let answer = invalidTokenAnswer() else { return admission }
    return .refused(
      Outcome(answer: answer.adding(grant.fields), verdict: .refusedBySetting, proof: grant.proof))
  }

  func outcome(of head: ReceivedHead, _ body: ReceivedBody, _ grant: Grant) -> Outcome {
    if head.path == Self.metadataPath { return Outcome(answer: .json(200, metadata), verdict: .accepted) }
    let resource = Resource(head: head, body: body, grant: grant, access: state.settings.withLock { $0.api.access })
    var outcome = resource.outcome()
    outcome.answer.fields += grant.fields
    outcome.proof = grant.proof
    return outcome
  }

  /// Takes one of the refusals that the settings ask for.
  private func invalidTokenAnswer() -> Answer? {
    let challenge = state.settings.withLock { settings -> InvalidToken.Challenge? in
      guard let refusal = settings.api.invalidToken, refusal.remaining != 0 else { return nil }
      settings.api.invalidToken?.remaining = refusal.remaining.map { $0 - 1 }
      return refusal.challenge
    }
    switch challenge {
    case .dpop: return .text(401, "Token refused.", fields: Challenges.dpop(error: "invalid_token"))
    case .bearer: return .text(401, "Token refused.", fields: Challenges.bearer(error: "invalid_token"))
    case .bare: return .text(401, "Token refused.")
    case nil: return nil
    }
  }

  private static let metadataPath = "/.well-known/oauth-protected-resource"

  /// RFC 9728 §2
  private var metadata: JSONValue {
    let resource = state.serverSettings(of: role).externalURL ?? state.origin(of: role)
    return .object([
      ("resource", .string(resource)),
      ("authorization_servers", .array([.string(state.origin(of: .authorizationServer))])),
      ("bearer_methods_supported", .array([.string("header")])),
      ("dpop_signing_alg_values_supported", .array([.string("ES256")])),
      ("dpop_bound_access_tokens_required", .bool(state.settings.withLock { $0.api.access == .dpop })),
    ])
  }
}
