import Cryptography
import HTTPWire

/// The simulated authorization server: metadata, keys, tokens, revocation and what is known of the person.
struct AuthorizationServer: SimulatedService {
  let role = Role.authorizationServer
  let state: SimulationState

  private enum Place {
    /// Both well-known places hold the same. RFC 8414 §3, OpenID Connect Discovery §4
    case metadata
    case keys
    case token
    case revocation
    case userinfo

    init?(path: String) {
      switch path {
      case "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration": self = .metadata
      case "/jwks": self = .keys
      case "/token": self = .token
      case "/revoke": self = .revocation
      case "/userinfo": self = .userinfo
      default: return nil
      }
    }

    var methods: [String] {
      switch self {
      case .metadata, .keys: ["GET"]
      case .token, .revocation: ["POST"]
      case .userinfo: ["GET", "POST"]
      }
    }
  }

  func admit(_ head: ReceivedHead) -> Admission {
    do {
      _ = try RequestURL.of(head, role, state)
    } catch {
      return .refused(.misdirected(error))
    }
    guard let place = Place(path: head.path) else {
      return .refused(Outcome(answer: .text(404, "Nothing is here."), verdict: .notFound))
    }
    guard place.methods.contains(head.method) else {
      let allowed = place.methods.joined(separator: ", ")
      let field = HTTPField(name: "Allow", value: allowed)
      return .refused(Outcome(answer: .text(405, "Use \(allowed).", fields: [field]), verdict: .methodWrong))
    }
    return place == .userinfo ? AccessControl(role: role, state: state).admitLogin(head) : .granted(Grant())
  }

  func outcome(of head: ReceivedHead, _ body: ReceivedBody, _ grant: Grant) -> Outcome {
    switch Place(path: head.path) {
    case .token: TokenEndpoint(state: state).outcome(of: head, body)
    case .revocation: RevocationEndpoint(state: state).outcome(of: head, body)
    case .keys: Outcome(answer: .json(200, keys), verdict: .accepted)
    case .userinfo: userinfo(grant)
    case .metadata, nil: Outcome(answer: .json(200, metadata), verdict: .accepted)
    }
  }

  /// OpenID Connect Core §5.3.2
  private func userinfo(_ access: Grant) -> Outcome {
    let login = access.token?.grant.flatMap(state.grants.grant)
    let claims = login.map(IDToken.claims) ?? [("sub", .string(access.token?.subject ?? ""))]
    return Outcome(
      answer: .json(200, .object(claims), fields: access.fields), verdict: .accepted, proof: access.proof)
  }

  /// RFC 8414 §2, RFC 9449 §5.1
  private var metadata: JSONValue {
    let issuer = state.issuer
    let settings = state.settings.withLock { $0.authorizationServer }
    var members: [(String, JSONValue)] = [
      ("issuer", .string(issuer)),
      ("token_endpoint", .string("\(issuer)/token")),
      ("revocation_endpoint", .string("\(issuer)/revoke")),
      ("userinfo_endpoint", .string("\(issuer)/userinfo")),
      ("jwks_uri", .string("\(issuer)/jwks")),
      ("subject_types_supported", .strings(["public"])),
      ("id_token_signing_alg_values_supported", .strings(["ES256"])),
      ("response_types_supported", .array([])),
      ("grant_types_supported", .strings(GrantType.allCases.map(\.rawValue))),
      ("token_endpoint_auth_methods_supported", .strings(SimulatedClient.Authentication.allCases.map(\.rawValue))),
      ("token_endpoint_auth_signing_alg_values_supported", .strings(SignedAssertion.algorithms)),
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
