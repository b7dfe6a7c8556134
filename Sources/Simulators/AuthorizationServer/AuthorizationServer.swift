import Cryptography
import HTTPWire

/// The simulated authorization server: metadata, keys and the token endpoint.
struct AuthorizationServer: SimulatedService {
  let role = Role.authorizationServer
  let state: SimulationState

  func admit(_ head: ReceivedHead) -> Admission {
    do {
      _ = try RequestURL.of(head, role, state)
    } catch {
      return .refused(.misdirected(error))
    }
    let allowed = head.path == "/token" ? "POST" : "GET"
    guard head.path == "/token" || Self.documents.contains(head.path) else {
      return .refused(Outcome(answer: .text(404, "Nothing is here."), verdict: .notFound))
    }
    guard head.method == allowed else {
      let field = HTTPField(name: "Allow", value: allowed)
      return .refused(Outcome(answer: .text(405, "Use \(allowed).", fields: [field]), verdict: .methodWrong))
    }
    return .granted(Grant())
  }

  func outcome(of head: ReceivedHead, _ body: ReceivedBody, _ grant: Grant) -> Outcome {
    switch head.path {
    case "/token": TokenEndpoint(state: state).outcome(of: head, body)
    case "/jwks": Outcome(answer: .json(200, keys), verdict: .accepted)
    default: Outcome(answer: .json(200, metadata), verdict: .accepted)
    }
  }

  /// Both well-known places hold the same. RFC 8414 §3, OpenID Connect Discovery §4
  private static let documents = [
    "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/jwks",
  ]

  /// RFC 8414 §2, RFC 9449 §5.1
  private var metadata: JSONValue {
    let issuer = state.issuer
    let settings = state.settings.withLock { $0.authorizationServer }
    var members: [(String, JSONValue)] = [
      ("issuer", .string(issuer)),
      ("token_endpoint", .string("\(issuer)/token")),
      ("jwks_uri", .string("\(issuer)/jwks")),
      ("response_types_supported", .array([])),
      ("grant_types_supported", .strings(GrantType.allCases.map(\.rawValue))),
      (
        "token_endpoint_auth_methods_supported",
        .array(SimulatedClient.Authentication.allCases.map { .string($0.rawValue) })
      ),
    ]
    if settings.binding != .ignored {
      let algorithms = DPoPProofVerifier.algorithms.map(\.rawValue).sorted()
      members.append(("dpop_signing_alg_values_supported", .array(algorithms.map { .string($0) })))
    }
    if let scopes = settings.scopes { members.append(("scopes_supported", .array(scopes.map { .string($0) }))) }
    return .object(members)
  }

  /// RFC 7517 §5
  private var keys: JSONValue {
    guard let key = JSONValue(strictly: Array(state.tokens.signingKey.publicJWK.json.utf8)),
      let members = key.objectValue
    else {
      preconditionFailure("a JWK is a JSON object")
    }
    let more: [(String, JSONValue)] = [
      ("kid", .string(state.tokens.keyID)), ("use", .string("sig")), ("alg", .string("ES256")),
    ]
    return .object([("keys", .array([.object(members + more)]))])
  }
}
