import Configuration
import Cryptography
import Foundation
import Testing

@Suite struct `A client` {
  private static let certificate = ClientCertificate(chainFile: "/etc/proofd/c.pem", keyFile: "/etc/proofd/k.pem")

  @Test(arguments: [
    ("private_key: {file: /k}", ClientAuthentication.privateKeyJWT(.init(privateKey: .file("/k")), audience: nil)),
    (
      """
      client_auth: private_key_jwt
      private_key: {env: K}
      key_id: k1
      signing_algorithm: EdDSA
      assertion_audience: https://id.example
      """,
      .privateKeyJWT(
        .init(privateKey: .environment("K"), keyID: "k1", algorithm: .edDSA), audience: "https://id.example")
    ),
    (
      "client_auth: client_secret_jwt\nclient_secret: {env: S}\nassertion_audience: a",
      .clientSecretJWT(.environment("S"), audience: "a")
    ),
    ("client_auth: client_secret_jwt\nclient_secret: {env: S}", .clientSecretJWT(.environment("S"), audience: nil)),
    ("tls: {certificate: c.pem, key: k.pem}", .tls),
    ("client_auth: tls\ntls: {certificate: c.pem, key: k.pem}", .tls),
    ("client_auth: none\ntls: {certificate: c.pem, key: k.pem}", .none),
    ("client_secret: {env: S}\ntls: {certificate: c.pem, key: k.pem}", .basic(.environment("S"))),
  ])
  func `shows who it is`(_ lines: String, _ authentication: ClientAuthentication) throws {
    let client = try clientProfile(lines)
    #expect(client.authentication == authentication)
    #expect(client.clientCertificate == (lines.contains("certificate") ? Self.certificate : nil))
    #expect(!lines.contains("client_auth") || lines.contains("client_auth: \(authentication.name)"))
  }

  private static let keyOnly = "goes with client_auth: private_key_jwt only"
  private static let keyWanted =
    "must be {env: NAME}, {file: PATH} or {command: [PROGRAM, …]} of a private key, PEM or JWK"
  private static let keyInFile =
    "the private key stands in the file; {env: NAME}, {file: PATH} or {command: […]} keeps it out"

  @Test(arguments: [
    Mistake(
      "client_auth: private_key_jwt",
      "3:3: error: credentials.c.private_key: is required by client_auth: private_key_jwt"
    ),
    Mistake(
      "client_auth: client_secret_jwt",
      "3:3: error: credentials.c.client_secret: is required by client_auth: client_secret_jwt"),
    Mistake("client_auth: tls", "3:3: error: credentials.c.tls.certificate: is required by client_auth: tls"),
    Mistake(
      "client_auth: tls\ntls: {ca: a.pem}", "8:5: error: credentials.c.tls.certificate: is required by client_auth: tls"
    ),
    Mistake("tls: {certificate: c.pem}", "7:5: error: credentials.c.tls.key: is required by certificate"),
    Mistake("tls: {key: k.pem}", "7:5: error: credentials.c.tls.certificate: is required by key"),
    Mistake(
      "client_secret: {env: S}\nprivate_key: {env: K}",
      "8:5: error: credentials.c.private_key: a client shows who it is in one way: client_secret or private_key"),
    Mistake(
      "client_auth: post\nclient_secret: {env: S}\nprivate_key: {env: K}",
      "9:5: error: credentials.c.private_key: \(keyOnly)"),
    Mistake(
      "client_auth: private_key_jwt\nclient_secret: {env: S}\nprivate_key: {env: K}",
      "8:5: error: credentials.c.client_secret: goes with client_auth: basic, post or client_secret_jwt only"),
    Mistake("client_secret: {env: S}\nkey_id: k", "8:5: error: credentials.c.key_id: \(keyOnly)"),
    Mistake("signing_algorithm: ES256", "7:5: error: credentials.c.signing_algorithm: \(keyOnly)"),
    Mistake(
      "client_secret: {env: S}\nassertion_audience: a",
      "8:5: error: credentials.c.assertion_audience: goes with client_auth: private_key_jwt or client_secret_jwt only"),
    Mistake(
      "private_key: {env: K}\nsigning_algorithm: none",
      "8:24: error: credentials.c.signing_algorithm: must be one of ES256, RS256, PS256, EdDSA"),
    Mistake("private_key: keys/client.pem", "7:18: error: credentials.c.private_key: \(keyWanted)"),
    Mistake("private_key: ''", "7:18: error: credentials.c.private_key: \(keyWanted)"),
    Mistake(
      "private_key: |\n  -----BEGIN PRIVATE KEY-----\n  SENTINEL",
      "7:18: warning: credentials.c.private_key: \(keyInFile)"
    ),
    Mistake(
      #"private_key: '{"kty":"EC","d":"SENTINEL"}'"#, "7:18: warning: credentials.c.private_key: \(keyInFile)"),
  ])
  func `that does so wrongly is refused or doubted`(_ mistake: Mistake) {
    #expect(problems(client(mistake.text)) == [mistake.problem])
  }

  @Test(arguments: [
    "private_key: {SENTINEL: a}", "client_secret: {SENTINEL: a}", "assertion: {SENTINEL: a}",
    "grant: token_exchange\nsubject_token: {SENTINEL: a}", "actor_token: {SENTINEL: a}", "private_key: [SENTINEL]",
    "private_key: SENTINEL", "signed_assertion: {private_key: SENTINEL}", "grant: SENTINEL", "client_auth: SENTINEL",
    "password: {SENTINEL: a}", "username: [SENTINEL]", "targets: SENTINEL", "actor_token_type: SENTINEL",
  ])
  func `that is read wrongly shows nothing that may be a secret`(_ lines: String) {
    let found = problems(client(lines))
    #expect(!found.isEmpty)
    #expect(!found.contains { $0.contains("SENTINEL") }, "\(found)")
  }

  @Test func `has no use for a certificate without TLS`() {
    let text = client("tls: {certificate: c.pem, key: k.pem}").replacing("https://id", with: "http://localhost/id")
    #expect(
      problems(text) == [
        "7:11: error: credentials.c.tls.certificate: has a meaning with an https authorization server only"
      ])
  }

  @Test func `misses keys and certificates that are not there`() throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "proofd-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }  // nothing else to do about it
    let path = directory.appending(path: "f").path
    try Data(client("private_key: {file: gone}\ntls: {certificate: f, key: gone}").utf8).write(
      to: URL(filePath: path))
    let found = Configuration.load(path: path, environment: ["HOME": "/h"])
    #expect(
      found.problems.map { String($0.description.dropFirst(path.utf8.count + 1)) } == [
        "7:25: warning: credentials.c.private_key.file: the file is not there or can't be read",
        "8:32: error: credentials.c.tls.key: the file is not there or can't be read",
      ])
  }
}
