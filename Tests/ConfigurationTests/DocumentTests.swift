import Configuration
import Testing

@Suite struct `The top of the file` {
  @Test func `has a default for every key`() throws {
    let value = try configuration("routes: {}")
    #expect(value.file == "proofd.yaml")
    #expect(value.listen == [.tcp(host: "127.0.0.1", port: 9449)])
    #expect(value.allowedHosts.isEmpty)
    #expect(value.stateDirectory == "/home/me/.local/state/proofd")
    #expect(value.callers == .sameUser)
    #expect(value.threads == 1)
    #expect(value.log == LogConfiguration(file: nil))
    #expect(value.limits == Limits())
    #expect(value.timeouts == Timeouts())
    #expect(value.replayLimitBytes == 1_048_576)
    #expect(value.replayTotalBytes == 33_554_432)
  }

  @Test(arguments: [(1, 1), (2, 2), (4, 4), (16, 4), (0, 1)])
  func `runs one loop for each processor, four at most`(_ cores: Int, _ loops: Int) {
    let surroundings = Configuration.Surroundings(baseDirectory: "/", home: "/h", stateHome: "/s", cores: cores)
    let value = Configuration.parse(bytes: Array("routes: {}".utf8), fileName: "f", surroundings: surroundings)
    #expect(value.configuration?.threads == loops)
    #expect(value.configuration?.stateDirectory == "/s/proofd")
  }

  @Test(arguments: [
    ("127.0.0.1:9449", ListenAddress.tcp(host: "127.0.0.1", port: 9449)),
    ("127.8.0.1:0", .tcp(host: "127.8.0.1", port: 0)),
    ("localhost:80", .tcp(host: "127.0.0.1", port: 80)),
    ("\"[::1]:65535\"", .tcp(host: "::1", port: 65_535)),
    ("unix:/run/p.sock", .unix(path: "/run/p.sock")),
    ("unix:p.sock", .unix(path: "/etc/proofd/p.sock")),
    ("unix:~/p.sock", .unix(path: "/home/me/p.sock")),
  ])
  func `listens on loopback addresses and sockets`(_ text: String, _ address: ListenAddress) throws {
    #expect(try configuration("listen: \(text)\nroutes: {}").listen == [address])
  }

  @Test func `listens on several addresses`() throws {
    let value = try configuration("listen: [127.0.0.1:0, 127.0.0.1:0, unix:/a]\nroutes: {}")
    #expect(value.listen.map(\.description) == ["127.0.0.1:0", "127.0.0.1:0", "unix:/a"])
    #expect(ListenAddress.tcp(host: "::1", port: 1).description == "[::1]:1")
  }

  private static let elsewhere =
    "must be a loopback address: to listen elsewhere needs callers: keys, not supported by this version of proofd"

  @Test(arguments: [
    Mistake("listen: 0.0.0.0:9449", "1:9: error: listen: \(elsewhere)"),
    Mistake("listen: \"[::]:9449\"", "1:9: error: listen: \(elsewhere)"),
    Mistake("listen: :9449", "1:9: error: listen: \(elsewhere)"),
    Mistake("listen: \"*:9449\"", "1:9: error: listen: \(elsewhere)"),
    Mistake("listen: 192.168.1.5:80", "1:9: error: listen: \(elsewhere)"),
    Mistake(
      "listen: 9449",
      "1:9: error: listen: must be an address such as 127.0.0.1:9449, [::1]:9449 or unix:/path; did you mean \"127.0.0.1:9449\"?"
    ),
    Mistake("listen: 127.0.0.1:65536", "1:9: error: listen: must end in a port from 0 to 65535"),
    Mistake("listen: '127.0.0.1:'", "1:9: error: listen: must end in a port from 0 to 65535"),
    Mistake("listen: ::1:80", #"1:9: error: listen: an IPv6 address stands in brackets; did you mean "[::1]:9449"?"#),
    Mistake(
      "listen: example.com:80", "1:9: error: listen: must be a loopback address such as 127.0.0.1 or [::1], not a name"),
    Mistake(
      "listen: 127.0.0.01:80", "1:9: error: listen: must be a loopback address such as 127.0.0.1 or [::1], not a name"),
    Mistake("listen: 'unix:'", "1:9: error: listen: the path of a socket has at most 107 bytes, and at least one"),
    Mistake(
      "listen: unix:/" + String(repeating: "a", count: 107),
      "1:9: error: listen: the path of a socket has at most 107 bytes, and at least one"),
    Mistake("listen: [127.0.0.1:1, 127.0.0.1:1]", "1:23: error: listen[1]: the same address is listed twice"),
    Mistake("listen: []", "1:9: error: listen: must be from 1 to 16 addresses"),
    Mistake("listen: {}", "1:9: error: listen: must be a list"),
    Mistake(
      "callers: keys",
      "1:10: error: callers: \"keys\" is not supported by this version of proofd; it knows same-user, any"),
    Mistake("console: 127.0.0.1:9450", "1:1: error: console: not supported by this version of proofd"),
    Mistake("trace: {keep: 200}", "1:1: error: trace: not supported by this version of proofd"),
    Mistake("lisen: x", #"1:1: error: lisen: unknown key; did you mean "listen"?"#),
    Mistake("something: x", "1:1: error: something: unknown key"),
    Mistake(
      "allowed_hosts: [\"a b\"]",
      "1:17: error: allowed_hosts[0]: must be HOST or HOST:PORT, exactly as clients send it in Host"),
    Mistake(
      "allowed_hosts: \"a:0\"",
      "1:16: error: allowed_hosts: must be HOST or HOST:PORT, exactly as clients send it in Host"),
    Mistake(
      "allowed_hosts: http://a",
      "1:16: error: allowed_hosts: must be HOST or HOST:PORT, exactly as clients send it in Host"),
    Mistake(
      "allowed_hosts: \"[]:1\"",
      "1:16: error: allowed_hosts: must be HOST or HOST:PORT, exactly as clients send it in Host"),
    Mistake(
      "state: ~other/x", "1:8: error: state: only ~/ for your own home directory is expanded; write the path out"),
    Mistake("limits: {waiting: 0}", "1:19: error: limits.waiting: must be a whole number from 1 to 1000000"),
    Mistake("limits: {waiting: many}", "1:19: error: limits.waiting: must be a whole number from 1 to 1000000"),
    Mistake("limits: {body: 2048GiB}", "1:16: error: limits.body: must be from 0 to 1024GiB"),
    Mistake(
      "limits: {body: 5MB}",
      "1:16: error: limits.body: must be a size such as 65536, 64KiB or 1MiB; units are KiB, MiB and GiB"),
    Mistake("limits: {max_body: 1}", "1:10: error: limits.max_body: unknown key"),
    Mistake("replay_total: 1KiB", "1:15: error: replay_total: must not be less than replay_limit (1MiB)"),
    Mistake(
      "replay_total: 1KiB\nreplay_limit: 2KiB",
      "2:15: error: replay_limit: must not be more than replay_total (1KiB)"),
  ])
  func `refuses`(_ mistake: Mistake) {
    #expect(problems(mistake.text).filter { !$0.contains("no routes") } == [mistake.problem])
  }

  @Test func `takes other hosts in lower case`() throws {
    let value = try configuration("allowed_hosts: [Proofd.Internal, \"[2001:DB8::1]:9449\", 10.0.0.1:80]\nroutes: {}")
    #expect(value.allowedHosts == ["proofd.internal", "[2001:db8::1]:9449", "10.0.0.1:80"])
  }

  @Test(arguments: [("/abs", "/abs"), ("rel/x", "/etc/proofd/rel/x"), ("~/x", "/home/me/x"), ("~", "/home/me")])
  func `takes paths from the file's directory and the home directory`(_ text: String, _ path: String) throws {
    let value = try configuration("state: \(text)\nlog: {file: \(text)}\nroutes: {}")
    #expect(value.stateDirectory == path)
    #expect(value.log.file == path)
  }

  @Test func `needs a home only where it is used`() {
    func parse(_ text: String) -> [String] {
      Configuration.parse(bytes: Array(text.utf8), fileName: "f", baseDirectory: "/", home: nil).problems
        .map(\.description)
    }
    #expect(parse("state: /s\nroutes: {}").isEmpty)
    #expect(parse("routes: {}") == ["f:1:1: error: state: is required when neither XDG_STATE_HOME nor HOME is set"])
    #expect(parse("state: ~/s\nroutes: {}") == ["f:1:8: error: state: begins with ~, and HOME is not set"])
  }

  @Test func `sets limits and timeouts`() throws {
    let value = try configuration(
      """
      limits: {connections: 5, waiting: 6, body: 7KiB, head: 4KiB, fields: 20, target: 1KiB, idle_upstream_connections: 0}
      timeouts: {head: 1s, body: 2s, send: 3s, idle: 4s, connect: 5s, response: 6s, idle_upstream: 7s, drain: 0s}
      token_timeout: 8s
      routes: {r: {upstream: "https://a.example"}, s: {upstream: "https://a.example", body_limit: 0, timeouts: {connect: 1m}}}
      """)
    var limits = Limits()
    limits.connectionsMax = 5
    limits.waitingMax = 6
    limits.bodyBytesMax = 7168
    limits.headBytesMax = 4096
    limits.fieldCountMax = 20
    limits.targetBytesMax = 1024
    limits.idleUpstreamConnectionsMax = 0
    #expect(value.limits == limits)
    let timeouts = value.timeouts
    #expect(
      [
        timeouts.head, timeouts.body, timeouts.send, timeouts.idle, timeouts.connect, timeouts.response,
        timeouts.idleUpstream, timeouts.token, timeouts.drain,
      ] == [1, 2, 3, 4, 5, 6, 7, 8, 0].map { .seconds($0) })
    #expect(value.routes[0].timeouts == RouteTimeouts(timeouts))
    #expect(value.routes[1].timeouts.connect == .seconds(60))
    #expect(value.routes[1].timeouts.response == .seconds(6))
    #expect(value.routes.map(\.bodyLimitBytes) == [7168, 0])
  }
}
