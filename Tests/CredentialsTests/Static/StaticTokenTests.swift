import Cryptography
import EventLoop
import Foundation
import OAuth
import Testing

@testable import Credentials

struct StaticTokenTests {
  let time = ManualTime()
  let held = HeldSecrets()
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func source(
    _ origin: SecretOrigin, _ placement: StaticPlacement = .bearer, reread: Duration = .seconds(60)
  ) -> TokenSource {
    TokenSource(
      name: "legacy", secret: origin, placement: placement, reread: reread,
      environment: CredentialEnvironment(http: NoHTTP(), time: time, sleep: { _ in }, secrets: held.announcer))
  }

  private func literal(_ text: String) -> SecretOrigin { .literal(Secret(utf8: text)) }

  private func failure(of source: TokenSource) async -> TokenFailure? {
    do throws(TokenFailure) {
      _ = try await source.token()
      return nil
    } catch {
      return error
    }
  }

  @Test func `a bearer token goes into Authorization and never ends`() async throws {
    let source = source(literal("abcdefgh"))
    let token = try await source.token()
    #expect(token.fieldLine == Secret(utf8: "Authorization: Bearer abcdefgh\r\n") && token.queryParameter == nil)
    #expect(token.proofKey == nil && token.ath.isEmpty && token.expiresAtUnixSeconds == nil)
    time.advance(by: .seconds(10_000_000))
    #expect(source.current() === token)
    #expect(source.status().state == .ready)
  }

  @Test func `Basic joins name and password and the redactor knows both forms`() async throws {
    let source = source(literal("pässword:1"), .basic(username: "user"))
    let token = try await source.token()
    let pair = Base64.encode("user:pässword:1".utf8)
    #expect(token.fieldLine == Secret(utf8: "Authorization: Basic \(pair)\r\n") && token.queryParameter == nil)
    #expect(held.all == ["pässword:1": 1, pair: 1])
    withExtendedLifetime(source) {}
  }

  @Test func `a field of its own holds the secret as it is`() async throws {
    let token = try await source(literal("key with space"), .field(name: "X-Api-Key")).token()
    #expect(token.fieldLine == Secret(utf8: "X-Api-Key: key with space\r\n") && token.queryParameter == nil)
  }

  @Test func `a query parameter is percent-encoded, its name too`() async throws {
    let token = try await source(literal("a&b=c d/ü"), .query(name: "api key")).token()
    #expect(token.queryParameter == Secret(utf8: "api%20key=a%26b%3Dc%20d%2F%C3%BC") && token.fieldLine == nil)
  }

  @Test(arguments: [
    ("a b", StaticPlacement.bearer), ("a\r\nb", .bearer), ("ä", .bearer), ("a\nb", .field(name: "X")),
    (" a", .field(name: "X")), ("a ", .field(name: "X")), ("a\0", .field(name: "X")),
  ])
  func `a secret that would break a head is refused and not shown`(text: String, placement: StaticPlacement)
    async throws
  {
    let failure = try #require(await failure(of: source(literal(text), placement)))
    #expect(failure == .refused(detail: "the secret has characters that a header field can't carry"))
  }

  @Test func `a variable that is not set is told by its name`() async throws {
    let failure = await failure(of: source(.environment("PROOFD_TEST_NOT_SET")))
    #expect(failure == .refused(detail: "the environment variable PROOFD_TEST_NOT_SET: it is not set"))
    #expect(try await source(.environment("PATH"), .field(name: "X")).token().text.isEmpty == false)
  }

  @Test func `one line end at the end of a file does not count`() async throws {
    for (content, secret) in [("abc\n", "abc"), ("abc\r\n", "abc"), ("abc", "abc"), ("abc\n\n", "abc\n")] {
      try folder.write(content, to: "secret")
      #expect(
        try await SecretReader(.file(folder.file("secret")), reread: .zero, time: time).read() == Secret(utf8: secret))
    }
  }

  @Test func `a file that changes is another token within a second`() async throws {
    try folder.write("first\n", to: "token")
    let source = source(.file(folder.file("token")))
    let first = try await source.token()
    try folder.write("second\n", to: "token")
    #expect(source.current() === first)
    time.advance(by: .seconds(1))
    #expect(source.current() == nil)
    let second = try await source.token()
    #expect(second.text == "second")
    #expect(second.generation > first.generation)
    #expect(held.all == ["first": 1, "second": 1])
  }

  @Test func `a file that does not change stays the same token`() async throws {
    try folder.write("same\n", to: "token")
    let source = source(.file(folder.file("token")))
    let first = try await source.token()
    for _ in 0..<100 {
      time.advance(by: .seconds(7))
      #expect(try await source.token() === first)
    }
    #expect(held.all == ["same": 1])
  }

  @Test func `a file that goes serves one reread longer, and is found at once when it is back`() async throws {
    try folder.write("first", to: "token")
    let source = source(.file(folder.file("token")))
    let first = try await source.token()
    try folder.remove("token")
    time.advance(by: .seconds(59))
    #expect(try await source.token() === first)
    #expect(source.status().lastFailure?.code == "secret_unreadable")
    time.advance(by: .seconds(1))
    let failure = try #require(await failure(of: source))
    #expect(
      failure == .refused(detail: "the file \(folder.file("token")): it can't be read: No such file or directory"))
    try folder.write("second", to: "token")
    time.advance(by: .seconds(1))
    #expect(try await source.token().text == "second")
  }

  @Test func `a file is read anew after reread even if it seems unchanged`() async throws {
    let reader = SecretReader(.file(folder.file("token")), reread: .seconds(60), time: time)
    try folder.write("one", to: "token")
    let first = try await reader.read()
    #expect(try await reader.read() === first)
    time.advance(by: .seconds(60))
    #expect(try await reader.read() !== first)
  }

  @Test(arguments: [(0o600, false), (0o400, false), (0o640, true), (0o604, true), (0o644, true)])
  func `a file that others can read is a warning`(mode: Int, warns: Bool) async throws {
    try folder.write("secret", to: "token", mode: mode)
    let source = source(.file(folder.file("token")))
    _ = try await source.token()
    #expect(source.status().warnings.isEmpty == !warns)
    #expect(source.status().state == .ready)
  }

  @Test func `what is no secret file is refused`() async throws {
    try folder.write("\n", to: "empty")
    try folder.write(String(repeating: "a", count: SecretFile.bytesMax + 1), to: "large")
    mkfifo(folder.file("pipe"), 0o600)
    for (name, detail) in [
      ("empty", "it is empty"), ("large", "it is longer than 64 KiB"), ("pipe", "it is not a regular file"),
      (".", "it is not a regular file"),
    ] {
      let path = folder.file(name)
      #expect(await failure(of: source(.file(path))) == .refused(detail: "the file \(path): \(detail)"))
    }
  }

  @Test func `a command is run again after reread, and not before`() async throws {
    let counter = folder.file("counter")
    let source = source(
      .command(["/bin/sh", "-c", "echo run >> \(counter); wc -l < \(counter)"]), reread: .seconds(60))
    #expect(try await source.token().text == "1")
    time.advance(by: .seconds(47))
    #expect(source.current()?.text == "1")
    time.advance(by: .seconds(13))
    #expect(try await source.token().text == "2")
  }

  @Test func `a command that fails keeps the last value for one reread`() async throws {
    let flag = folder.file("flag")
    let source = source(.command(["/bin/sh", "-c", "test -e \(flag) && exit 3; echo value"]), reread: .seconds(60))
    let first = try await source.token()
    try folder.write("", to: "flag")
    time.advance(by: .seconds(60))
    #expect(try await source.token() === first)
    #expect(source.status().lastFailure?.detail == "the command /bin/sh: it ended with exit code 3")
    time.advance(by: .seconds(60))
    #expect(
      await failure(of: source)
        == .unavailable(detail: "the command /bin/sh: it ended with exit code 3", retryAfterSeconds: 5))
  }
}
