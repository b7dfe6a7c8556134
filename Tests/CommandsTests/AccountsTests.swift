import Cryptography
import EventLoop
import HTTPWire
import Testing

@testable import Commands

struct AccountsAnswerTests {
  @Test(
    arguments: [
      (400, ExitCode.usage), (403, .failed), (404, .failed), (409, .failed), (422, .usage), (423, .loginOrUnlockNeeded),
      (500, .failed), (502, .failed), (503, .failed), (511, .loginOrUnlockNeeded),
    ] as [(UInt16, ExitCode)])
  func `a problem becomes the exit code of its kind, with its words`(status: UInt16, code: ExitCode) throws {
    let answer = try AccountsAnswer(status: status, body: Array(#"{"detail":"what","next":"Do."}"#.utf8))
    #expect { try answer.success() } throws: { error in
      guard let failure = error as? CommandFailure else { return false }
      return failure.exitCode == code && failure.message == "what" && failure.hint == "Do."
    }
  }

  @Test func `success may have no content, and what is no JSON is a failure`() throws {
    #expect(try AccountsAnswer(status: 204, body: []).success() == .null)
    #expect(throws: CommandFailure.self) { try AccountsAnswer(status: 200, body: Array("{".utf8)) }
  }

  @Test(arguments: [
    ("acme", "/v1/accounts/acme"), ("acme/work", "/v1/accounts/acme%2Fwork"), ("acme/", "/v1/accounts/acme%2F"),
    ("a b?#%", "/v1/accounts/a%20b%3F%23%25"), ("../lock", "/v1/accounts/..%2Flock"),
  ])
  func `a name stays one segment of the path`(name: String, path: String) {
    #expect(AccountsRequest.account(name).path == path)
  }
}

struct AccountsTests {
  /// Answers from a list; notes what was asked.
  private final class Script: AccountsClient {
    var answers: [(UInt16, String)]
    var asked: [String] = []
    let isDaemon = true

    init(_ answers: [(UInt16, String)]) { self.answers = answers }

    func perform(_ request: AccountsRequest) throws(CommandFailure) -> AccountsAnswer {
      asked.append("\(request.method) \(request.path)")
      let (status, body) = answers.removeFirst()
      return try AccountsAnswer(status: status, body: Array(body.utf8))
    }
  }

  @Test func `a store that is locked is a failure of its own where nobody can be asked`() {
    let script = Script([(423, #"{"detail":"locked","next":"Run proofd unlock."}"#)])
    let accounts = Accounts(script, passphrase: .nowhere)
    #expect { try accounts.ask(.list) } throws: { ($0 as? CommandFailure)?.exitCode == .loginOrUnlockNeeded }
    #expect(script.asked == ["GET /v1/accounts"])
  }

  @Test func `the daemon is asked with JSON and answers with it`() throws {
    let body = #"{"access_token":"t"}"#
    let server = try CannedServer("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    let client = DaemonAccounts(control: ControlClient(path: server.path))
    let answer = try client.perform(.account("acme", "token", method: "POST", content: ["scope": "a"]))
    #expect(answer.status == 200 && answer.json == ["access_token": "t"])
  }

  @Test func `done without a word has no content`() throws {
    let server = try CannedServer("HTTP/1.1 204 No Content\r\nCache-Control: no-store\r\n\r\n")
    let client = DaemonAccounts(control: ControlClient(path: server.path))
    #expect(try client.perform(.account("acme", method: "DELETE")).success() == .null)
  }

  @Test func `whether a daemon answers is known before it is asked for anything`() throws {
    let server = try CannedServer("")
    #expect(try ControlClient(path: server.path).answers())
    #expect(try !ControlClient(path: "/nonexistent/control.sock").answers())
    let listener = try SilentListener()
    listener.fill()
    #expect(throws: CommandFailure.self) {
      try ControlClient(path: listener.path, limit: .milliseconds(50)).answers()
    }
  }
}

struct AccountFactsTests {
  @Test(
    arguments: [
      ([], ExitCode.ok), ([("ready", true), ("expiring", true)], .ok), ([("ready", true), ("idle", false)], .failed),
      ([("unavailable", false), ("login_required", false)], .loginOrUnlockNeeded),
      ([("locked", false)], .loginOrUnlockNeeded),
      ([("key_missing", false)], .loginOrUnlockNeeded), ([("session_expired", true)], .ok),
      ([("refused", false)], .failed),
    ] as [([(String, Bool)], ExitCode)])
  func `the exit code says what the accounts need`(accounts: [(String, Bool)], code: ExitCode) {
    let list = accounts.map { JSONValue.object([("state", .string($0.0)), ("can_serve", .bool($0.1))]) }
    #expect(AccountFacts.exitCode(list) == code)
  }

  @Test func `an account expires with the first of its tokens`() {
    #expect(AccountFacts(["targets": [["expires_at": 30], ["expires_at": 20], ["state": "idle"]]]).expiresAt == 20)
    #expect(AccountFacts(["expires_at": 10, "targets": [["expires_at": 5]]]).expiresAt == 10)
    #expect(AccountFacts(["targets": []]).expiresAt == nil)
  }
}

struct AccountSearchTests {
  private static let account: JSONValue = [
    "name": "acme/work", "tags": ["billing", "eu"], "issuer": "https://id.example.com/", "client_id": "c-1",
    "state": "ready",
  ]
  private static let identity: JSONValue = ["subject": "u-1", "email": "Ann@Example.com"]

  private static func matches(_ words: [String]) throws -> Bool {
    let verb = Verb.credentialsFind
    return AccountSearch(try Arguments(words, options: verb.options, operands: verb.operands)).matches(
      account, identity)
  }

  @Test(arguments: [
    [], ["WORK"], ["bill"], ["id.example"], ["c-1"], ["u-1"], ["ann@"], ["--tag", "billing"],
    ["--tag", "eu", "--tag", "billing"], ["--issuer", "ID.example"], ["--client-id", "c-1"], ["--person", "ann"],
    ["--state", "ready"], ["acme", "--state", "ready", "--person", "u-1"],
  ])
  func `an account is found by what is known of it`(words: [String]) throws { #expect(try Self.matches(words)) }

  @Test(arguments: [
    ["other"], ["--tag", "bill"], ["--client-id", "c"], ["--person", "billing"], ["--state", "locked"],
    ["acme", "--tag", "us"],
  ])
  func `and not by what is not`(words: [String]) throws { #expect(try !Self.matches(words)) }
}

struct PropertyListTests {
  @Test func `members are lines, and what a terminal would obey is escaped`() {
    let members: [(String, JSONValue)] = [
      ("name", "a\u{1B}[2J"), ("can_serve", true), ("tags", ["x", "y"]), ("empty", []), ("created_at", 1_800_000_000),
    ]
    #expect(
      PropertyList.lines(members, now: 1_800_000_000) == [
        #"name        a\u{1b}[2J"#, "can serve   yes", "tags        x, y", "empty       -",
        "created at  now (2027-01-15T08:00:00Z)",
      ])
    #expect(PropertyList.lines([("created_at", 5)]) == ["created at  5"])
  }
}
