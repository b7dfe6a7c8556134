import Cryptography
import HTTPWire

extension Verb {
  static let credentialsImport = Verb(
    name: "credentials import", summary: "take over a login that another program made",
    about: """
      Reads a refresh token from standard input, without echo at a terminal: one line, or a JSON object with refresh_token
      and what there is of id_token, proof_key (PEM or JWK of the DPoP key), scope, client_id and issuer. It is proved by a
      refresh before it is stored, and the other program must not use it any more: with rotation there is one user of a
      refresh token.

      --from oidc-agent FILE takes what `oidc-gen --print NAME` prints; - is standard input. --from email-oauth2-proxy FILE
      --section ADDRESS takes an account of that proxy's configuration or cache store; it asks for the account's password.
      """,
    options: [
      Option(name: "--from", value: "PROGRAM", help: "FILE is one of oidc-agent or email-oauth2-proxy"),
      Option(name: "--section", value: "ADDRESS", help: "the account's section in an email-oauth2-proxy file"),
      Option(name: "--password-stdin", help: "a line of standard input is that account's password"),
      Option(name: "--replace", help: "replaces an account of this name, once the new grant has proved good"),
      Option(name: "--offline", help: "stores it without a refresh to prove it"),
      Option(name: "--tag", value: "TAG", help: "gives it a tag; may be repeated"),
    ] + accountOptions,
    operands: [accountName, Operand(name: "FILE", isOptional: true)],
    examples: [
      ("proofd credentials import acme/work <refresh-token.txt", "takes a refresh token"),
      ("proofd credentials import acme --from oidc-agent - < <(oidc-gen --print acme)", "takes over from oidc-agent"),
      (
        "proofd credentials import mail --from email-oauth2-proxy emailproxy.config --section ann@example.com",
        "takes over an account of email-oauth2-proxy"
      ),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    let accounts = try Accounts(arguments, invocation)
    let unlocking = arguments.has(Accounts.passphraseOption.name)
    // It is the first line, so it has to be read before the grant.
    if unlocking, let passphrase = try PassphraseSource(arguments, invocation).read(isNew: accounts.isNew) {
      _ = try accounts.unlock(passphrase)
    }
    let grant = try ImportSource(arguments).grant(invocation.terminal)
    let content = grant.content(
      tags: arguments.all("--tag"), replaces: arguments.has("--replace"), isOffline: arguments.has("--offline"))
    let account = try accounts.ask(
      .account(arguments.operand("NAME"), "import", method: "POST", content: content))
    AccountPrinter(arguments, invocation).list([account])
    return .ok
  }
}

/// Where a grant is imported from.
private enum ImportSource {
  case standardInput
  case oidcAgent(path: String)
  case emailProxy(path: String, section: String, passwordFromInput: Bool)

  init(_ arguments: Arguments) throws(CommandFailure) {
    let file = arguments.operand("FILE")
    guard let program = arguments.last("--from") else {
      guard file.isEmpty else { throw .usage("FILE is of which program?", hint: "add --from PROGRAM") }
      self = .standardInput
      return
    }
    guard !file.isEmpty else { throw .usage("FILE is missing", hint: "- is standard input") }
    switch program {
    case "oidc-agent": self = .oidcAgent(path: file)
    case "email-oauth2-proxy":
      guard let section = arguments.last("--section") else {
        throw .usage("--section is missing", hint: "name the account's section: --section ann@example.com")
      }
      self = .emailProxy(path: file, section: section, passwordFromInput: arguments.has("--password-stdin"))
    default: throw .usage("--from takes oidc-agent or email-oauth2-proxy")
    }
  }

  func grant(_ terminal: Terminal) throws(CommandFailure) -> GrantToImport {
    switch self {
    case .standardInput where SecretInput.hasTerminal:
      return try GrantToImport(text: try SecretInput.prompt("refresh token", terminal))
    case .standardInput:
      return try GrantToImport(text: try SecretInput.rest(bytesMax: GrantToImport.bytesMax))
    case .oidcAgent(let path): return try GrantToImport(oidcAgent: try Self.content(path, terminal))
    case .emailProxy(let path, let section, let passwordFromInput):
      let account = try EmailProxyAccount(try Self.content(path, terminal), section: section)
      if passwordFromInput { return try account.open(try SecretInput.line()) }
      guard SecretInput.hasTerminal else {
        throw .usage("there is no terminal to ask for the password at", hint: "use --password-stdin")
      }
      return try account.open(try SecretInput.prompt("password of \(section.printable)", terminal))
    }
  }

  private static func content(_ path: String, _ terminal: Terminal) throws(CommandFailure) -> Secret {
    if path == "-" { return try SecretInput.rest(bytesMax: GrantToImport.bytesMax) }
    let (content, isOpenToOthers) = try BoundedFile.read(path: path, bytesMax: GrantToImport.bytesMax)
    if isOpenToOthers {
      terminal.talk(
        "proofd: warning: other users may read \(path.printable), and what is in it; chmod 600 it or remove it")
    }
    return content
  }
}
