import Configuration
import Testing

@Suite struct `A value of the file` {
  @Test(arguments: [
    ("500ms", Duration.milliseconds(500)), ("10s", .seconds(10)), ("5m", .seconds(300)), ("1h", .seconds(3600)),
    ("010s", .seconds(10)), (#""500ms""#, .milliseconds(500)),
  ])
  func `can be a duration`(_ text: String, _ value: Duration) throws {
    #expect(try configuration("token_timeout: \(text)\nroutes: {}").timeouts.token == value)
  }

  @Test(arguments: [
    ("0", 0), ("65536", 65_536), ("64KiB", 65_536), ("1MiB", 1 << 20), ("3MiB", 3 << 20), (#""64KiB""#, 65_536),
  ])
  func `can be a size`(_ text: String, _ value: Int) throws {
    #expect(try configuration("replay_limit: \(text)\nroutes: {}").replayLimitBytes == value)
  }

  @Test(arguments: [
    Mistake("token_timeout: 10", "1:16: error: token_timeout: needs a unit: ms, s, m or h"),
    Mistake("token_timeout: 10 s", "1:16: error: token_timeout: must be a duration such as 500ms, 10s, 5m or 1h"),
    Mistake("token_timeout: 1.5s", "1:16: error: token_timeout: must be a duration such as 500ms, 10s, 5m or 1h"),
    Mistake("token_timeout: -1s", "1:16: error: token_timeout: must be a duration such as 500ms, 10s, 5m or 1h"),
    Mistake("token_timeout: ms", "1:16: error: token_timeout: must be a duration such as 500ms, 10s, 5m or 1h"),
    Mistake(
      "token_timeout: 99999999999999999999h",
      "1:16: error: token_timeout: must be a duration such as 500ms, 10s, 5m or 1h"),
    Mistake(
      "token_timeout: 9999999999999999h",
      "1:16: error: token_timeout: must be a duration such as 500ms, 10s, 5m or 1h"),
    Mistake("token_timeout: 2h", "1:16: error: token_timeout: must be from 10ms to 1h"),
    Mistake("token_timeout: 1ms", "1:16: error: token_timeout: must be from 10ms to 1h"),
    Mistake(
      "token_timeout: [1s]", "1:16: error: token_timeout: must be a duration such as 500ms, 10s, 5m or 1h, not a list"),
    Mistake("token_timeout:", "1:15: error: token_timeout: needs a value: a duration such as 500ms, 10s, 5m or 1h"),
    Mistake(
      "replay_limit: 1MB",
      "1:15: error: replay_limit: must be a size such as 65536, 64KiB or 1MiB; units are KiB, MiB and GiB"),
    Mistake("replay_limit: 1mib", "1:15: error: replay_limit: must be a size such as 65536, 64KiB or 1MiB"),
    Mistake("replay_limit: 99999999999GiB", "1:15: error: replay_limit: must be a size such as 65536, 64KiB or 1MiB"),
    Mistake("replay_limit: 65MiB", "1:15: error: replay_limit: must be from 0 to 64MiB"),
    Mistake("threads: 0", "1:10: error: threads: must be a whole number from 1 to 64"),
    Mistake("threads: 65", "1:10: error: threads: must be a whole number from 1 to 64"),
    Mistake("threads: 2.0", "1:10: error: threads: must be a whole number from 1 to 64"),
    Mistake("threads: \"2\"", "1:10: error: threads: must be a whole number from 1 to 64"),
    Mistake("threads: {a: b}", "1:10: error: threads: must be a whole number from 1 to 64, not a mapping"),
    Mistake("callers: sameuser", #"1:10: error: callers: must be one of same-user, any; did you mean "same-user"?"#),
    Mistake("limits: 5", "1:9: error: limits: must be a mapping with keys such as connections, waiting, body"),
    Mistake("routes:", "1:8: error: routes: needs a value: a mapping of names and routes"),
    Mistake("credentials: [a]", "1:14: error: credentials: must be a mapping of names and credentials"),
  ])
  func `is refused when it is not of its key's type`(_ mistake: Mistake) {
    #expect(problems(mistake.text).filter { !$0.contains("no routes") } == [mistake.problem])
  }

  @Test(arguments: ["yes", "no", "on", "True", "FALSE", "1", "\"true\"", "''", "~", "null"])
  func `is a boolean only as true or false`(_ text: String) {
    let found = problems(route("upstream: https://api.example\npass_authorization: \(text)"))
    #expect(found.count == 1)
    #expect(found.first?.hasPrefix("11:25: error: routes.r.pass_authorization: ") == true)
  }

  @Test(arguments: ["no", "true", "12345678", "0x1F", "null", "1e3", "2026-01-01"])
  func `is a text where its key wants a text`(_ text: String) throws {
    let value = try configuration(
      credential("provider: static\nscheme: Basic\nusername: \(text)\npassword: {env: PW}"))
    #expect(
      value.credentials.first?.kind
        == .fixed(
          StaticCredential(placement: .basic(username: text, password: .environment("PW")), reread: .seconds(60))))
  }
}
