import Credentials
import Foundation

@testable import Simulators

/// A grant as `machine` is configured with it, and what the simulators need to know.
enum GrantCase: String, CaseIterable, Sendable {
  case clientCredentials, assertionGiven, assertionSigned, exchangeGiven, exchangeWithActor, exchangeOfCredential,
    password, refresh

  static let assertionIssuer = "https://idp.example"
  static let passwordText = "what-only-ada-knows"

  var grantType: GrantType {
    switch self {
    case .clientCredentials: .clientCredentials
    case .assertionGiven, .assertionSigned: .jwtBearer
    case .exchangeGiven, .exchangeWithActor, .exchangeOfCredential: .tokenExchange
    case .password: .password
    case .refresh: .refreshToken
    }
  }

  /// Whom the token is about. RFC 9068 §2.2
  func subject(client: String) -> String {
    switch self {
    case .clientCredentials, .exchangeOfCredential: client
    default: "ada"
    }
  }

  /// The keys of the credential.
  private var keys: String {
    switch self {
    case .clientCredentials: "grant: client_credentials"
    case .assertionGiven: "grant: jwt_bearer, assertion: {file: $DIR/assertion}"
    case .assertionSigned:
      "grant: jwt_bearer, signed_assertion: {issuer: \"\(Self.assertionIssuer)\", subject: ada, lifetime: 30s, "
        + "private_key: {file: $DIR/assertion.key}, claims: {tenant: t-1}}"
    case .exchangeGiven: "grant: token_exchange, subject_token: {file: $DIR/subject}"
    case .exchangeWithActor:
      "grant: token_exchange, subject_token: {file: $DIR/subject}, actor_token: {file: $DIR/actor}, "
        + "actor_token_type: urn:ietf:params:oauth:token-type:jwt"
    case .exchangeOfCredential: "grant: token_exchange, subject_credential: own"
    case .password: "grant: password, username: ada, password: {file: $DIR/password}"
    case .refresh: "grant: authorization_code"
    }
  }

  /// A daemon whose credential `machine` uses this grant and shows itself by this method.
  func setup(_ method: ClientMethod, nonces: NonceMode, more: String = "dpop: true") throws -> Setup {
    var simulation = SimulationOptions(clients: [try method.client("svc")], nonces: nonces)
    let server = \SimulationOptions.settings.authorizationServer
    simulation[keyPath: server].users = [SimulatedUser(username: "ada", password: Self.passwordText)]
    simulation[keyPath: server].assertionIssuers = [
      AssertionIssuer(issuer: Self.assertionIssuer, keys: [try SigningKeys.publicKey(SigningKeys.ec)])
    ]
    simulation[keyPath: server].acceptsAnySubject = self == .exchangeGiven || self == .exchangeWithActor
    let client = "provider: oidc, issuer: \"$AS\", client_id: svc, tls: {ca: $DIR/ca.pem}, \(method.keys), \(more)"
    var credentials = "machine: {\(client), \(keys)}"
    if self == .exchangeOfCredential { credentials += "\nown: {\(client), grant: client_credentials}" }
    return Setup(
      simulation: simulation, credentials: credentials, routes: Setup.apiRoute, more: Setup.store,
      prepare: { simulation, directory in try prepare(method, simulation, directory) })
  }

  private func prepare(_ method: ClientMethod, _ simulation: Simulation, _ directory: String) throws {
    let endpoint = "\(simulation.authorizationServer.url)/token"
    let files: [(String, String?)] = [
      ("client.key", method.privateKey), ("assertion.key", SigningKeys.ec), ("password", Self.passwordText),
      ("assertion", try SigningKeys.sign([("iss", Self.assertionIssuer), ("sub", "ada"), ("aud", endpoint)])),
      ("subject", try SigningKeys.sign([("sub", "ada")])), ("actor", try SigningKeys.sign([("sub", "robot")])),
    ]
    for case (let name, let text?) in files {
      try text.write(toFile: "\(directory)/\(name)", atomically: false, encoding: .utf8)
    }
    guard self == .refresh else { return }
    var seed = GrantSeed(makesKey: true)
    seed.subject = "ada"
    try Setup.store(in: directory).insert(
      try StoredGrant(try simulation.seedGrant(seed), profile: "machine", at: simulation), tokens: [], replacing: nil)
  }
}
