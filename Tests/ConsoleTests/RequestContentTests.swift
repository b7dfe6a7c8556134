import Testing

@testable import Console

/// What becomes of content and late answers on the socket.
@Suite struct RequestContentTests {
  private static let grant = #"{"refresh_token":"rt-\#(String(repeating: "x", count: 3_000))"}"#
  private static let target = "/v1/accounts/acme/import"

  @Test func `content comes with a length or in chunks, in any pieces`() async throws {
    try await onThread {
      let fake = AccountFake()
      let server = try RunningServer(accounts: fake)
      let client = try server.client()
      #expect(try client.request("POST", Self.target, content: Self.grant).status == 200)
      #expect(
        try client.request("POST", Self.target, content: Self.grant, type: "Application/JSON; charset=utf-8").status
          == 200)
      try client.send(
        "POST \(Self.target) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
      )
      for piece in ["{\"refresh_", "token\":\"r", "t\"}"] {
        try client.send("\(String(piece.utf8.count, radix: 16))\r\n\(piece)\r\n")
      }
      try client.send("0\r\n\r\n")
      #expect(try client.answer().status == 200)
      #expect(fake.calls.count == 3)
      #expect(fake.calls.last == "import acme | rt | - | - | [] | [] | - | - | false | false")
      #expect(try client.request("GET", "/v1/status").status == 200)
    }
  }

  @Test func `who waits for 100 gets it`() async throws {
    try await onThread {
      let server = try RunningServer()
      let client = try server.client()
      try client.send(
        "POST /v1/unlock HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 18\r\n"
          + "Expect: 100-continue\r\n\r\n")
      #expect(try client.head().status == 100)
      try client.send(#"{"passphrase":"p"}"#)
      #expect(try client.answer().status == 200)
    }
  }

  @Test(arguments: ["text/plain", "application/x-www-form-urlencoded", "application/json, text/plain", ""])
  func `content of another type is refused`(type: String) async throws {
    try await onThread {
      let fake = AccountFake()
      let server = try RunningServer(accounts: fake)
      let answer = try server.client().request("POST", Self.target, content: Self.grant, type: type)
      #expect(answer.status == 415)
      #expect(answer.fields["proofd-error"] == "content_not_json")
      #expect(fake.calls.isEmpty)
    }
  }

  @Test func `content that is too large is refused, declared or not`() async throws {
    try await onThread {
      let fake = AccountFake()
      let server = try RunningServer(accounts: fake)
      let declared = try server.client()
      try declared.send(
        "POST \(Self.target) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 262145\r\n\r\n")
      #expect(try declared.answer().status == 413)
      let chunked = try server.client()
      try chunked.send(
        "POST \(Self.target) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
      )
      for _ in 0..<5 { try chunked.send("10000\r\n\(String(repeating: "x", count: 65_536))\r\n") }
      let answer = try chunked.answer()
      #expect(answer.status == 413)
      #expect(answer.fields["proofd-error"] == "content_too_large")
      #expect(answer.fields["connection"] == "close")
      #expect(fake.calls.isEmpty)
    }
  }

  @Test func `the largest content is taken`() async throws {
    try await onThread {
      let fake = AccountFake()
      let server = try RunningServer(accounts: fake)
      let padding = String(repeating: "x", count: AccountAPI.contentBytesMax - #"{"refresh_token":""}"#.utf8.count)
      let answer = try server.client().request("POST", Self.target, content: #"{"refresh_token":"\#(padding)"}"#)
      #expect(answer.status == 200)
      #expect(fake.calls.count == 1)
    }
  }

  @Test func `a request that breaks off is asked of nobody`() async throws {
    try await onThread {
      let fake = AccountFake()
      let server = try RunningServer(accounts: fake)
      do {
        let client = try server.client()
        try client.send(
          "POST \(Self.target) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{")
      }
      #expect(try server.client().request("GET", "/v1/status").status == 200)
      #expect(fake.calls.isEmpty)
    }
  }

  @Test func `a slow answer holds up nobody else, and a client that leaves cancels nothing`() async throws {
    try await onThread {
      let (started, release, removed) = (AsyncGate(), AsyncGate(), AsyncGate())
      let fake = AccountFake(
        before: {
          started.open()
          await release.wait()
        }, noted: { if $0 == "remove acme/old" { removed.open() } })
      let server = try RunningServer(accounts: fake)
      do {
        let leaving = try server.client()
        try leaving.send("DELETE /v1/accounts/acme%2Fold HTTP/1.1\r\nHost: a\r\n\r\n")
        started.block()
        #expect(try server.client().request("GET", "/v1/status").status == 200)
      }
      let waiting = try server.client()
      try waiting.send("GET /v1/accounts/acme HTTP/1.1\r\nHost: a\r\n\r\n")
      release.open()
      #expect(try waiting.answer().status == 200)
      removed.block()
    }
  }

  @Test func `the server may close while an answer is made`() async throws {
    try await onThread {
      let (started, release) = (AsyncGate(), AsyncGate())
      let fake = AccountFake(before: {
        started.open()
        await release.wait()
      })
      let server = try RunningServer(accounts: fake)
      let client = try server.client()
      try client.send("GET /v1/accounts HTTP/1.1\r\nHost: a\r\n\r\n")
      started.block()
      server.close()
      #expect(try client.isAtEnd())
      release.open()
    }
  }

  @Test func `done without a word is 204 without content`() async throws {
    try await onThread {
      let server = try RunningServer()
      let client = try server.client()
      let answer = try client.request("DELETE", "/v1/accounts/acme")
      #expect(answer.status == 204)
      #expect(answer.fields["content-length"] == nil)
      #expect(answer.fields["content-type"] == nil)
      #expect(try client.request("GET", "/v1/accounts").status == 200)
    }
  }

  @Test func `a page and another user can ask for nothing`() async throws {
    try await onThread {
      let fake = AccountFake()
      let server = try RunningServer(accounts: fake)
      #expect(
        try server.client().request("POST", "/v1/lock", ["Origin: http://127.0.0.1:9450"]).fields["proofd-error"]
          == "cross_site_refused")
      let other = try RunningServer(ownUID: 4_000_000_000, accounts: fake)
      #expect(try other.client().request("POST", "/v1/lock").fields["proofd-error"] == "caller_unknown")
      #expect(fake.calls.isEmpty)
    }
  }

  @Test func `without accounts there are no resources of accounts`() async throws {
    try await onThread {
      let server = try RunningServer(accounts: nil)
      let client = try server.client()
      #expect(try client.request("GET", "/v1/accounts").status == 404)
      #expect(try client.request("POST", "/v1/unlock", content: "{}").status == 404)
    }
  }
}
