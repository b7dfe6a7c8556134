import Cryptography
import HTTPWire
import Testing

@testable import Commands

struct GrantToImportTests {
  private static func content(_ grant: GrantToImport) -> JSONValue {
    grant.content(tags: [], replaces: false, isOffline: false)
  }

  @Test(arguments: ["rt-1", "rt-1\n", "  rt-1 \r\n"])
  func `one line is a refresh token`(text: String) throws {
    #expect(Self.content(try GrantToImport(text: Secret(utf8: text))) == ["refresh_token": "rt-1"])
  }

  @Test func `a JSON object brings what there is, and a token response is one`() throws {
    let text = """
      {"access_token": "at", "token_type": "DPoP", "expires_in": 300, "refresh_token": "rt", "id_token": "a.b.c",
       "scope": ["read", "write"], "client_id": "c", "issuer": "https://i/", "dpop_key": {"kty": "EC", "d": "x"}}
      """
    #expect(
      Self.content(try GrantToImport(text: Secret(utf8: text))) == [
        "refresh_token": "rt", "id_token": "a.b.c", "proof_key": #"{"kty":"EC","d":"x"}"#, "scope": "read write",
        "client_id": "c", "issuer": "https://i/",
      ])
    let pem = #"{"refresh_token": "rt", "proof_key": "-----BEGIN PRIVATE KEY-----\nx"}"#
    #expect(
      Self.content(try GrantToImport(text: Secret(utf8: pem))) == [
        "refresh_token": "rt", "proof_key": "-----BEGIN PRIVATE KEY-----\nx",
      ])
  }

  @Test func `what the command line says is part of the request`() throws {
    var grant = GrantToImport(refreshToken: Secret(utf8: "rt"))
    grant.scope = "a"
    #expect(
      grant.content(tags: ["t"], replaces: true, isOffline: true) == [
        "refresh_token": "rt", "scope": "a", "tags": ["t"], "replace": true, "offline": true,
      ])
  }

  @Test(arguments: [
    "", " \n", "s3cr3t two", "s3cr3t\ntwo", "s3cr3t\u{1B}[2J", "{", "{}", #"{"refreshToken":"s3cr3t"}"#,
    #"{"refresh_token":7}"#, #"{"refresh_token":""}"#, #"{"refresh_token":null}"#,
    #"{"refresh_token":"s3cr3t","scope":1}"#,
    #"{"refresh_token":"s3cr3t""#, #"{"refresh_token":"s3cr3t","refresh_token":"s3cr3t"}"#,
  ])
  func `anything else is a usage failure that repeats no secret`(text: String) {
    #expect { try GrantToImport(text: Secret(utf8: text)) } throws: { error in
      guard let failure = error as? CommandFailure else { return false }
      return failure.exitCode == .usage && !"\(failure.message) \(failure.hint ?? "")".contains("s3cr3t")
    }
  }

  @Test func `an account configuration of oidc-agent brings its token, client, issuer and scope`() throws {
    let text = """
      {"name": "acme", "client_name": "oidc-agent:acme-box", "issuer_url": "https://id.example.com/",
       "device_authorization_endpoint": "", "daeSetByUser": 0, "client_id": "c-1", "client_secret": "cs-1",
       "refresh_token": "rt-1", "cert_path": "/etc/ssl/certs/ca-certificates.crt", "scope": "openid offline_access",
       "redirect_uris": ["http://localhost:8080"], "username": "", "password": ""}
      """
    #expect(
      Self.content(try GrantToImport(oidcAgent: Secret(utf8: text))) == [
        "refresh_token": "rt-1", "scope": "openid offline_access", "client_id": "c-1",
        "issuer": "https://id.example.com/",
      ])
    let older = #"{"issuer": "https://i/", "client_id": "", "refresh_token": "rt", "scope": "max"}"#
    #expect(
      Self.content(try GrantToImport(oidcAgent: Secret(utf8: older))) == [
        "refresh_token": "rt", "issuer": "https://i/",
      ])
    #expect(throws: CommandFailure.self) {
      try GrantToImport(oidcAgent: Secret(utf8: #"{"issuer_url":"https://i/","refresh_token":""}"#))
    }
  }
}

struct INIFileTests {
  @Test func `sections, options in any case, continued values, comments and defaults`() throws {
    let file = try INIFile(
      """
      # a comment
      [DEFAULT]
      client_id = shared

      [ann@example.com]
      Token_Salt : abc==
      scope = a
        b
      ; another
      percent = 100%%
      empty =
      [Server setup]
      """)
    #expect(file.sectionNames == ["Server setup", "ann@example.com"])
    #expect(file.value("token_salt", in: "ann@example.com") == "abc==")
    #expect(file.value("scope", in: "ann@example.com") == "a\nb")
    #expect(file.value("percent", in: "ann@example.com") == "100%")
    #expect(file.value("client_id", in: "ann@example.com") == "shared")
    #expect(file.value("empty", in: "ann@example.com") == nil)
    #expect(file.value("token_salt", in: "Server setup") == nil)
  }

  @Test(arguments: ["a = b", "[x]\n[x]", "[x]\na = 1\nA = 2", "[x]\nnothing"])
  func `what configparser refuses is refused`(text: String) {
    #expect { try INIFile(text) } throws: { ($0 as? CommandFailure)?.exitCode == .usage }
  }
}

/// The tokens were made with Python's `cryptography`, as email-oauth2-proxy makes them.
struct EmailProxyAccountTests {
  private static let password = Secret(utf8: "correct horse")
  private static let after1000 = """
    gAAAAABrDa3lGtqyxSJN6bei8lpp0Tace7k5btbKIYObdOK1DhiYbnGqyKPMA3H6LOWgz1zcSFkFxrQSdGZ5eGkenI3EQZVKErBHqvx0TVpWkg6PYxzHFt4=
    """
  private static let after100000 = """
    gAAAAABrDa3lb7WUqqiTLHJiMreCgushqhxbWlRBP_uHIoR5lnfmpnkdw4sil_TbvfduyqP4PNN3sl8Cipfqpm3qslJjdhppuRW73Y1GvhHWqtt-0OwLcUo=
    """

  private static func account(_ token: String, _ more: String = "", section: String = "ann@example.com") throws
    -> EmailProxyAccount
  {
    let text = """
      [Server setup]

      [ann@example.com]
      permission_url = https://login.example.com/authorize
      token_url = https://login.example.com/token
      oauth2_scope = imap smtp offline_access
      client_id = mail-client
      client_secret = cs
      token_salt = AAECAwQFBgcICQoLDA0ODw==
      \(more)
      refresh_token = \(token)
      """
    return try EmailProxyAccount(Secret(utf8: text), section: section)
  }

  @Test(arguments: [
    (after1000, "token_iterations = 1000"), (after100000, ""), (after100000, "token_iterations = 1000"),
  ])
  func `a section opens with the account's password, whichever iterations it names`(
    token: String, iterations: String
  ) throws {
    let grant = try Self.account(token, iterations).open(Self.password)
    #expect(
      grant.content(tags: [], replaces: false, isOffline: false) == [
        "refresh_token": "the-refresh-token-of-the-proxy", "scope": "imap smtp offline_access",
        "client_id": "mail-client",
      ])
  }

  @Test func `a wrong password is told from a wrong file`() throws {
    let account = try Self.account(Self.after1000, "token_iterations = 1000")
    #expect { try account.open(Secret(utf8: "wrong")) } throws: { error in
      (error as? CommandFailure)?.message == "this password does not open the refresh token"
    }
    for (more, section) in [
      ("token_iterations = 0", "ann@example.com"), ("token_iterations = 99999999999", "ann@example.com"),
      ("token_iterations = x", "ann@example.com"), ("", "bob@example.com"),
    ] {
      #expect { try Self.account(Self.after1000, more, section: section) } throws: {
        ($0 as? CommandFailure)?.exitCode == .usage
      }
    }
    #expect(throws: CommandFailure.self) {
      try EmailProxyAccount(Secret(utf8: "[a@b]\nrefresh_token = x"), section: "a@b")
    }
    #expect(throws: CommandFailure.self) {
      try EmailProxyAccount(Secret(utf8: "[a@b]\ntoken_salt = AAEC"), section: "a@b")
    }
  }
}
