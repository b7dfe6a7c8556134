import Configuration
import HTTPWire
import Testing

@testable import Daemon

@Suite struct `A listed route` {
  @Test func `names the account it is sent as`() throws {
    let text = """
      credentials: {acme: {provider: oidc, issuer: "https://id.example", client_id: x}}
      routes: {r: {upstream: "https://api.example", credential: acme/work}}
      """
    let (configuration, _) = Configuration.parse(
      bytes: Array(text.utf8), fileName: "f", baseDirectory: "/", home: "/home/me")
    let value = try #require(configuration)
    let route = try #require(EffectiveRoute.all(value, listeners: []).first)
    guard case .object(let members) = route.json else {
      Issue.record("no object")
      return
    }
    #expect(members.first { $0.0 == "credential" }?.1 == .string("acme/work"))
  }
}
