import HTTPWire

@testable import Simulators

/// What a scene consists of: the simulators' settings and the text of `proofd.yaml`.
///
/// In the text `$AS` and `$API` stand for the simulators' URLs, `$DIR` for a directory that goes with the scene.
struct Setup: Sendable {
  var simulation: SimulationOptions
  var threads = 1
  var credentials: String
  var routes: String
  /// More lines of the top level.
  var more = ""
  /// What is done before the daemon starts, which is when it asks for its first tokens.
  var prepare: @Sendable (_ simulation: Simulation, _ directory: String) throws -> Void = { _, _ in }

  /// A DPoP credential `machine` by client_credentials, and the API as route `api` under `/api`.
  static func dpop(
    nonces: NonceMode = .off, routes: String = Self.apiRoute, more: String = "",
    _ change: (inout SimulationSettings) -> Void = { _ in }
  ) -> Setup {
    var simulation = SimulationOptions(nonces: nonces)
    change(&simulation.settings)
    return Setup(simulation: simulation, credentials: Self.machine(), routes: routes, more: more)
  }

  /// The same with plain bearer tokens.
  static func bearer(
    routes: String = Self.apiRoute, more: String = "", _ change: (inout SimulationSettings) -> Void = { _ in }
  ) -> Setup {
    var simulation = SimulationOptions()
    simulation.settings.authorizationServer.binding = .ignored
    simulation.settings.api.access = .bearer()
    change(&simulation.settings)
    return Setup(simulation: simulation, credentials: Self.machine("dpop: false"), routes: routes, more: more)
  }

  /// The API without credentials: what matters is only what arrives.
  static func open(
    routes: String = "api: {path: /api, upstream: \"$API\"}", more: String = "",
    _ change: (inout SimulationSettings) -> Void = { _ in }
  ) -> Setup {
    var simulation = SimulationOptions()
    simulation.settings.api.access = .none
    change(&simulation.settings)
    return Setup(simulation: simulation, credentials: "", routes: routes, more: more)
  }

  /// The same, with faults that are there before the daemon is.
  func after(_ prepare: @escaping @Sendable (Simulation) -> Void) -> Setup {
    var setup = self
    setup.prepare = { simulation, _ in prepare(simulation) }
    return setup
  }

  static let apiRoute = "api: {path: /api, upstream: \"$API\", credential: machine}"

  /// The credential of the client the simulators know by default.
  static func machine(_ more: String = "dpop: true", name: String = "machine", client: String = "svc") -> String {
    """
    \(name): {provider: oidc, issuer: "$AS", grant: client_credentials, client_id: \(client), \
    client_secret: \(Self.clientSecret), tls: {ca: $DIR/ca.pem}, \(more)}
    """
  }

  /// Somebody to trust in place of all the authorities of the system: to read those takes longer than all else in a scene.
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBejCCAR+gAwIBAgIUeDMcGpN/sj0OegD7mF8svvT+iCUwCgYIKoZIzj0EAwIw
    ETEPMA0GA1UEAwwGbm9ib2R5MCAXDTI2MTEzMDA4Mzk0MVoYDzIxMjYxMTA2MDgz
    OTQxWjARMQ8wDQYDVQQDDAZub2JvZHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
    AATgg8XBo8GH+5Ey029O7AsH1j9kYjj+WeAARSzyf08ZrJXeau9V5ZLkO7PT0o4B
    /rTHQzlvYxolFna1uoxv3mfPo1MwUTAdBgNVHQ4EFgQULaz/N8pbsv0JPKyWb85H
    Pwmg6g4wHwYDVR0jBBgwFoAULaz/N8pbsv0JPKyWb85HPwmg6g4wDwYDVR0TAQH/
    BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAk0bcD9BmJ4QLPKvERCGcZOs4DzZ6
    5d8ianMRR0hPxnQCIQCGDZvJp4sC1mXoC6NePXzkUhDFMpSEvS28A1bR6RSjhQ==
    -----END CERTIFICATE-----
    """

  static let clientSecret = "service-secret"

  func document(_ simulation: Simulation, directory: String) -> String {
    """
    listen: 127.0.0.1:0
    threads: \(threads)
    state: $DIR/state
    log: {file: $DIR/log}
    \(more)
    credentials: \(Self.block(credentials))
    routes: \(Self.block(routes))
    """
    .replacing("$AS", with: simulation.authorizationServer.url)
    .replacing("$API", with: simulation.api.url)
    .replacing("$DIR", with: directory)
  }

  private static func block(_ lines: String) -> String {
    lines.isEmpty ? "{}" : "\n" + lines.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
  }
}
