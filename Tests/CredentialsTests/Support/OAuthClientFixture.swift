import Cryptography
import EventLoop
import HTTPWire
import OAuth
import Locking

@testable import Credentials

/// A client whose authorization server and clock are in the hands of the test.
struct OAuthClientFixture {
  let time = ManualTime()
  let server: ScriptedServer
  let held: HeldSecrets
  let events = Events()
  let sleep = ManualSleep()
  let skews = ClockSkewTable()
  let client: OAuthClient
  let source: TokenSource

  init(
    server: ScriptedServer, binding: ClientRegistration.Binding = .dpop(allowBearer: false),
    authentication: ClientRegistration.Authentication = .post(.literal(Secret(utf8: "sentinel-client-secret"))),
    target: TokenTargetKey = TokenTargetKey(), tokenEndpoint: String? = nil,
    held: HeldSecrets = HeldSecrets()
  ) throws {
    self.server = server
    self.held = held
    let (events, sleep) = (events, sleep)
    let place: ClientRegistration.Server =
      if let tokenEndpoint {
        .tokenEndpoint(try HTTPURL(parsing: tokenEndpoint))
      } else { .issuer(try Issuer(ScriptedServer.issuer)) }
    client = OAuthClient(
      ClientRegistration(
        name: "machine", server: place, clientID: "svc", authentication: authentication, binding: binding),
      environment: CredentialEnvironment(
        http: server, time: time, sleep: { await sleep.sleep($0) },
        events: { events.append($0) }, secrets: held.announcer, skews: skews))
    source = client.machine(name: "machine", grant: .clientCredentials, target: target)
  }

  /// The failure of an acquisition, if it fails.
  func failure() async -> TokenFailure? {
    do throws(TokenFailure) {
      _ = try await source.token()
      return nil
    } catch {
      return error
    }
  }

  /// Takes the current token's place with the next.
  func renewed() async throws -> AccessToken {
    time.advance(by: .seconds(3600))
    return try await source.token()
  }
}

/// The events in the order they came.
final class Events: Sendable {
  private let events = Protected<[OAuthEvent]>([])
  func append(_ event: OAuthEvent) { events.withLock { $0.append(event) } }
  var all: [OAuthEvent] { events.withLock { $0 } }
  var tokens: [OAuthEvent] { all.filter { $0.step == .token } }
}
