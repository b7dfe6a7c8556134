import Cryptography
import EventLoop
import Foundation
import Locking
import OAuth
import Testing

@testable import Credentials

/// A secret that the log could not be kept free of is not used, wherever it comes from, and the user is told.
struct UnmaskableSecretTests {
  let time = ManualTime()
  let held = HeldSecrets(bytesMin: 8)
  let folder: TemporaryFolder
  private let troubles = Troubles()
  private static let why = "it has fewer than 8 bytes, too few to be kept out of the log, so it is not used"

  init() throws { folder = try TemporaryFolder() }

  private func source(_ origin: SecretOrigin, held: HeldSecrets) -> TokenSource {
    TokenSource(
      name: "legacy", secret: origin, placement: .bearer,
      environment: CredentialEnvironment(
        http: NoHTTP(), time: time, sleep: { _ in },
        troubles: { [troubles] in troubles.append($0) }, secrets: held.announcer))
  }

  private func failure(of source: TokenSource) async -> TokenFailure? {
    do throws(TokenFailure) {
      _ = try await source.token()
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: ["environment", "file", "command", "literal"])
  func `a short secret is refused with the place that names it`(kind: String) async throws {
    try folder.write("sevenby\n", to: "secret")
    // Every process has PATH, and it is shorter than that.
    let held = HeldSecrets(bytesMin: 1 << 20)
    let why = Self.why.replacing("8", with: "1048576")
    let (origin, place, next): (SecretOrigin, String, String) =
      switch kind {
      case "environment":
        (.environment("PATH"), "the environment variable PATH", "and start the daemon anew.")
      case "file":
        (.file(folder.file("secret")), "the file \(folder.file("secret"))", "; it is read again with the next request.")
      case "command":
        (.command(["/bin/echo", "sevenby"]), "the command /bin/echo", "; it is run again with the next request.")
      default: (.literal(Secret(utf8: "sevenby")), "the secret in the configuration", "and start the daemon anew.")
      }
    let source = source(origin, held: held)
    #expect(await failure(of: source) == .refused(detail: "\(place): \(why)"))
    let status = source.status()
    #expect(status.state == .refused && !status.canServe)
    #expect(status.lastFailure?.code == "secret_too_short")
    #expect(status.lastFailure?.detail == "\(place): \(why)")
    #expect(status.next.hasPrefix("Use a secret of at least 1048576 bytes"))
    let trouble = try #require(troubles.all.first)
    #expect(trouble.credential == "legacy" && trouble.code == "secret_too_short")
    #expect(trouble.detail == "\(place): \(why)")
    #expect(trouble.next.hasPrefix("Use a secret of at least 1048576 bytes") && trouble.next.hasSuffix(next))
    #expect(source.current() == nil)
    #expect(held.all.isEmpty)
    #expect(!"\(trouble) \(status)".contains("sevenby"))
  }

  @Test func `a trouble is told once until it is another one, and a secret that was put right serves`() async throws {
    let codes = { [troubles] in troubles.all.map(\.code) }
    try folder.write("short", to: "secret")
    let source = source(.file(folder.file("secret")), held: held)
    for _ in 0..<3 {
      _ = await failure(of: source)
      time.advance(by: .seconds(1))
    }
    #expect(codes() == ["secret_too_short"])
    try folder.remove("secret")
    _ = await failure(of: source)
    #expect(codes() == ["secret_too_short", "secret_unreadable"])
    try folder.write("long-enough", to: "secret")
    time.advance(by: .seconds(1))
    #expect(try await source.token().text == "long-enough")
    #expect(held.all == ["long-enough": 1])
    #expect(codes().count == 2)
    withExtendedLifetime(source) {}
  }

  @Test func `of a secret whose other form can't be held nothing is held`() async throws {
    let held = HeldSecrets(bytesMin: 12)
    let source = TokenSource(
      name: "legacy", secret: .literal(Secret(utf8: "twelve-bytes")), placement: .query(name: "k"),
      environment: CredentialEnvironment(
        http: NoHTTP(), time: time, sleep: { _ in },
        secrets: SecretAnnouncer(
          hold: { (secret) throws(UnmaskableSecret) in
            guard held.all.isEmpty else { throw .tooMany(countMax: 1) }
            try held.announcer.hold(secret)
          }, release: held.announcer.release)))
    #expect(
      await failure(of: source)
        == .refused(
          detail:
            "the secret in the configuration: 1 other secrets are kept out of the log, which is the most, so it is not used"
        ))
    #expect(held.all.isEmpty)
  }

  @Test func `a short client secret is not sent to the authorization server`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, _ in .success(.token("long-enough-token")) },
      authentication: .post(.command(["/bin/echo", "sevenby"])), held: held)
    #expect(await fixture.failure() == .refused(detail: "the command /bin/echo: \(Self.why)"))
    #expect(fixture.server.tokenRequests.isEmpty)
    #expect(fixture.source.status().next.hasPrefix("Use a secret of at least 8 bytes; tried again in "))
    #expect(held.all.isEmpty)
  }

  @Test func `a token that is too short to be masked is not used`() async throws {
    let fixture = try OAuthClientFixture(
      server: ScriptedServer { _, _ in .success(.token("abc")) }, held: held)
    #expect(await fixture.failure() == .refused(detail: "the access token that the issuer gave: \(Self.why)"))
    #expect(fixture.source.current() == nil)
    #expect(held.all == ["sentinel-client-secret": 1])
  }
}

/// The troubles in the order they were told.
private final class Troubles: Sendable {
  private let troubles = Protected<[CredentialTrouble]>([])
  func append(_ trouble: CredentialTrouble) { troubles.withLock { $0.append(trouble) } }
  var all: [CredentialTrouble] { troubles.withLock { $0 } }
}
