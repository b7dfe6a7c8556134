import Credentials
import Testing

@testable import Console

@Suite struct AccountAPITests {
  private static func ask(
    _ method: String, _ path: String, _ content: String = "", _ fake: AccountFake
  ) async -> (status: UInt16, body: String) {
    let answer = await AccountAPI(fake).answer(method: method, path: path, content: Array(content.utf8))
    return (answer.statusCode, String(decoding: answer.body, as: UTF8.self))
  }

  @Test(arguments: [
    ("GET", "/v1/accounts", "", "accounts"),
    ("GET", "/v1/accounts/acme", "", "account acme"),
    ("HEAD", "/v1/accounts/acme%2Fwork", "", "account acme/work"),
    ("GET", "/v1/accounts/acme%2f", "", "account acme/"),
    ("GET", "/v1/accounts/acme%2Fa%40b.example+x", "", "account acme/a@b.example+x"),
    ("PATCH", "/v1/accounts/acme", #"{"default":true}"#, "default acme"),
    ("PATCH", "/v1/accounts/acme", #"{"tags":{"add":["a","b"],"remove":["c"]}}"#, #"tag acme +["a", "b"] -["c"]"#),
    ("DELETE", "/v1/accounts/acme%2Fwork", "", "remove acme/work"),
    ("GET", "/v1/accounts/acme/identity", "", "identity acme"),
    ("POST", "/v1/accounts/acme/token", "", "token acme - [] [] -"),
    (
      "POST", "/v1/accounts/acme/token",
      #"{"audience":"https://a/","resource":["https://r/"],"scope":"x y","min_ttl":60}"#,
      #"token acme https://a/ ["https://r/"] ["x", "y"] 60.0 seconds"#
    ),
    (
      "POST", "/v1/accounts/acme/headers", #"{"method":"GET","url":"https://api.example.com/x?y=1","scope":"z"}"#,
      #"fields acme GET https://api.example.com/x?y=1 - [] ["z"] -"#
    ),
    (
      "POST", "/v1/accounts/acme%2Fnew/import", #"{"refresh_token":"rt"}"#,
      "import acme/new | rt | - | - | [] | [] | - | - | false | false"
    ),
    (
      "POST", "/v1/accounts/acme/import",
      #"{"refresh_token":"rt","id_token":"it","proof_key":"pk","scope":"a b","tags":["t"],"client_id":"c","#
        + #""issuer":"https://i/","replace":true,"offline":true}"#,
      #"import acme | rt | it | pk | ["a", "b"] | ["t"] | c | https://i/ | true | true"#
    ),
    ("POST", "/v1/lock", "", "lock"), ("POST", "/v1/lock", "{}", "lock"),
    ("POST", "/v1/unlock", #"{"passphrase":"open sesame"}"#, "unlock open sesame"),
  ])
  func `each operation is asked for as the request says`(
    method: String, path: String, content: String, call: String
  ) async {
    let fake = AccountFake()
    let answer = await Self.ask(method, path, content, fake)
    #expect((200...204).contains(answer.status))
    #expect(fake.calls == [call])
  }

  @Test func `tags and the default may change together`() async {
    let fake = AccountFake()
    let answer = await Self.ask("PATCH", "/v1/accounts/acme", #"{"default":true,"tags":{"add":["a"]}}"#, fake)
    #expect(answer.status == 200)
    #expect(fake.calls == [#"tag acme +["a"] -[]"#, "default acme"])
  }

  @Test func `an account is shown with everything there is to say, and nothing else`() async {
    let answer = await Self.ask("GET", "/v1/accounts/acme", "", AccountFake())
    #expect(
      answer.body
        == #"{"name":"acme","kind":"authorization_code","state":"ready","can_serve":true,"default":false,"#
        + #""tags":["billing"],"issuer":"https://id.example.com","client_id":"abc","scope":"read write","#
        + #""expires_at":1800000300,"last_refresh_at":1800000000,"targets":[{"audience":"https://api.example.com/","scope":"read","#
        + #""state":"ready","expires_at":1800000300}],"last_failure":{"code":"server_error","detail":"Oops","#
        + #""at":1799999000},"next":"Nothing to do."}"# + "\n")
  }

  @Test func `token and headers show what was asked for`() async {
    let token = await Self.ask("POST", "/v1/accounts/acme/token", "", AccountFake())
    #expect(
      token.body == #"{"access_token":"the-access-token","token_type":"DPoP","expires_at":1800000300}"# + "\n")
    let headers = await Self.ask(
      "POST", "/v1/accounts/acme/headers", #"{"method":"GET","url":"https://a.example/"}"#, AccountFake())
    #expect(
      headers.body == #"{"headers":[{"name":"Authorization","value":"DPoP the-access-token"},"#
        + #"{"name":"DPoP","value":"a.b.c"}]}"# + "\n")
  }

  @Test func `the lock says whether there is one`() async {
    #expect(
      await Self.ask("GET", "/v1/lock", "", AccountFake()).body == #"{"passphrase":false,"locked":false}"# + "\n")
    let locking = AccountFake(lock: LockStatus(isLocked: false, locksInSeconds: 90))
    #expect(
      await Self.ask("GET", "/v1/lock", "", locking).body
        == #"{"passphrase":true,"locked":false,"locks_in_seconds":90}"# + "\n")
  }

  @Test(arguments: [
    ("/v1/accounts/acme/import", #"{"refresh_token":"s3cr3t-1","password":"s3cr3t-2"}"#),
    ("/v1/accounts/acme/import", #"{}"#), ("/v1/accounts/acme/import", ""),
    ("/v1/accounts/acme/import", #"{"refresh_token":""}"#), ("/v1/accounts/acme/import", #"{"refresh_token":7}"#),
    ("/v1/accounts/acme/import", #"{"refresh_token":"s3cr3t-1","refresh_token":"s3cr3t-2"}"#),
    ("/v1/accounts/acme/import", #"{"refresh_token":"s3cr3t-1","tags":"s3cr3t-2"}"#),
    ("/v1/accounts/acme/import", #"{"refresh_token":"s3cr3t-1","replace":"s3cr3t-2"}"#),
    ("/v1/accounts/acme/import", #"{"refresh_token":"s3cr3t-1""#), ("/v1/accounts/acme/import", #"["s3cr3t-1"]"#),
    ("/v1/accounts/acme/import", "s3cr3t-1"), ("/v1/accounts/acme/import", #"{"refresh_token":"s3cr3t-\ud800"}"#),
    ("/v1/accounts/acme/token", #"{"min_ttl":-1}"#), ("/v1/accounts/acme/token", #"{"min_ttl":1.5}"#),
    ("/v1/accounts/acme/token", #"{"min_ttl":86401}"#), ("/v1/accounts/acme/token", #"{"resource":[""]}"#),
    ("/v1/accounts/acme/token", #"{"method":"GET"}"#), ("/v1/accounts/acme/headers", #"{"method":"GET"}"#),
    ("/v1/accounts/acme/headers", #"{"method":"G T","url":"https://a/"}"#),
    ("/v1/accounts/acme/headers", #"{"method":"GET","url":"ftp://s3cr3t-1/"}"#),
    ("/v1/unlock", ""), ("/v1/unlock", #"{"passphrase":["s3cr3t-1"]}"#), ("/v1/lock", #"{"passphrase":"s3cr3t-1"}"#),
  ])
  func `content that is not as it should be is refused, asked of nobody, and never echoed`(
    path: String, content: String
  ) async {
    let fake = AccountFake()
    let answer = await Self.ask("POST", path, content, fake)
    #expect(answer.status == 400)
    #expect(answer.body.contains(#""code":"bad_request""#))
    #expect(!answer.body.contains("s3cr3t"))
    #expect(fake.calls.isEmpty)
  }

  @Test(arguments: [#"{}"#, #"{"default":false}"#, #"{"tags":{}}"#, #"{"tags":{"set":["a"]}}"#, #"{"name":"x"}"#])
  func `a change that changes nothing, or what can't be changed, is refused`(content: String) async {
    let fake = AccountFake()
    #expect(await Self.ask("PATCH", "/v1/accounts/acme", content, fake).status == 400)
    #expect(fake.calls.isEmpty)
  }

  @Test(
    arguments: [
      ("/v1/accounts/", 404), ("/v1/accounts//token", 404), ("/v1/accounts/acme/work", 404),
      ("/v1/accounts/acme/work/token", 404), ("/v1/accounts/%zz", 404), ("/v1/accounts/%ff", 404),
      ("/v1/accounts/a%20b", 404), ("/v1/accounts/acme%2Fa%2Fb", 404), ("/v1/locks", 404), ("/v2/accounts", 404),
      ("v1/accounts", 404),
    ] as [(String, UInt16)])
  func `a path that names nothing is not found`(path: String, status: UInt16) async {
    #expect(await Self.ask("GET", path, "", AccountFake()).status == status)
  }

  @Test(arguments: [
    ("/v1/accounts", ["GET", "HEAD"]), ("/v1/accounts/acme", ["GET", "HEAD", "PATCH", "DELETE"]),
    ("/v1/accounts/acme/import", ["POST"]), ("/v1/accounts/acme/identity", ["GET", "HEAD"]),
    ("/v1/accounts/acme/token", ["POST"]), ("/v1/accounts/acme/headers", ["POST"]),
    ("/v1/lock", ["GET", "HEAD", "POST"]), ("/v1/unlock", ["POST"]),
  ])
  func `each resource has its methods and names them to others`(path: String, methods: [String]) async {
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "get"] {
      let answer = await AccountAPI(AccountFake()).answer(method: method, path: path)
      #expect((answer.statusCode == 405) == !methods.contains(method), "\(method) \(path)")
      #expect(answer.statusCode != 405 || answer.allow.map(\.rawValue) == methods)
    }
  }

  @Test(
    arguments: zip(
      [
        .invalid, .notFound, .conflict, .forbidden, .locked, .loginRequired, .unavailable, .refused, .storage,
      ] as [AccountFailure.Kind], [422, 404, 409, 403, 423, 511, 503, 502, 500] as [UInt16]))
  func `a failure becomes a problem of its status with its words`(kind: AccountFailure.Kind, status: UInt16) async {
    let failure = AccountFailure(kind, code: "a_code", detail: "what is wrong", next: "Do this.")
    let answer = await Self.ask("GET", "/v1/accounts/acme", "", AccountFake(failing: failure))
    #expect(answer.status == status)
    #expect(answer.body.contains(#""status":\#(status),"detail":"what is wrong","code":"a_code","next":"Do this."}"#))
  }

  @Test func `a code that is no token is not put into a field`() {
    let failure = AccountFailure(.refused, code: "a\r\nSet-Cookie: b", detail: "", next: "")
    #expect(AdminProblem.account(failure).answer.problem == "account_failed")
  }
}
