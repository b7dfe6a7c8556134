import EventLoop
import HTTPWire

extension AccountPrinter {
  init(_ arguments: Arguments, _ invocation: Invocation) {
    self.init(
      terminal: invocation.terminal, isJSON: arguments.has("--json"),
      now: SystemTime().wallNanoseconds / 1_000_000_000)
  }
}

extension Verb {
  static let credentialsList = Verb(
    name: "credentials list", summary: "every account with state, expiry and next step",
    about: "Works while the store is locked. A star marks the default account of a credential.",
    options: accountOptions,
    examples: [("proofd credentials list --json | jq -r '.[].name'", "the names for programs")]
  ) { (arguments, invocation) throws(CommandFailure) in
    let accounts = try Accounts(arguments, invocation).ask(.list).arrayValue ?? []
    AccountPrinter(arguments, invocation).list(accounts)
    return .ok
  }

  static let credentialsShow = Verb(
    name: "credentials show", summary: "all there is to know of one account, but its secrets",
    about: "State, issuer, client, scope, tags, the tokens it has given, its last failure. No secret is shown.",
    options: accountOptions, operands: [accountName],
    examples: [("proofd credentials show acme/work", "one account in full")]
  ) { (arguments, invocation) throws(CommandFailure) in
    let account = try Accounts(arguments, invocation).ask(.account(arguments.operand("NAME")))
    AccountPrinter(arguments, invocation).show(account)
    return .ok
  }

  static let credentialsDefault = Verb(
    name: "credentials default", summary: "make an account the default of its credential",
    about: "Routes and verbs that name the credential alone mean this account from now on.",
    options: accountOptions, operands: [accountName],
    examples: [("proofd credentials default acme/work", "acme means acme/work")]
  ) { (arguments, invocation) throws(CommandFailure) in
    let account = try Accounts(arguments, invocation).ask(
      .account(arguments.operand("NAME"), method: "PATCH", content: ["default": true]))
    AccountPrinter(arguments, invocation).list([account])
    return .ok
  }

  static let credentialsTag = Verb(
    name: "credentials tag", summary: "add tags to an account and remove them",
    about: "Tags are words of your own to find accounts by.",
    options: [
      Option(name: "--add", value: "TAG", help: "adds a tag; may be repeated"),
      Option(name: "--remove", value: "TAG", help: "removes a tag; may be repeated"),
    ] + accountOptions,
    operands: [accountName],
    examples: [("proofd credentials tag acme/work --add billing --remove test", "changes two tags at once")]
  ) { (arguments, invocation) throws(CommandFailure) in
    let (added, removed) = (arguments.all("--add"), arguments.all("--remove"))
    guard !added.isEmpty || !removed.isEmpty else { throw .usage("there is no --add and no --remove") }
    let tags = JSONValue.object([
      ("add", .array(added.map { .string($0) })), ("remove", .array(removed.map { .string($0) })),
    ])
    let account = try Accounts(arguments, invocation).ask(
      .account(arguments.operand("NAME"), method: "PATCH", content: .object([("tags", tags)])))
    AccountPrinter(arguments, invocation).list([account])
    return .ok
  }

  static let credentialsRemove = Verb(
    name: "credentials remove", summary: "remove an account from this machine",
    about: """
      Its tokens and keys are deleted here; what the authorization server knows of the login stays. No other account becomes
      the default. Asks first at a terminal; elsewhere --yes is needed.
      """,
    options: [Option(name: "--yes", short: "-y", help: "does not ask")] + accountOptions,
    operands: [accountName],
    examples: [("proofd credentials remove acme/old --yes", "removes it without asking")]
  ) { (arguments, invocation) throws(CommandFailure) in
    let name = arguments.operand("NAME")
    if !arguments.has("--yes") {
      guard SecretInput.hasTerminal else { throw .usage("nobody can be asked whether to remove it", hint: "use --yes") }
      guard try Confirmation.ask("remove the account \(name.printable) from this machine?", invocation.terminal) else {
        throw CommandFailure(exitCode: .failed, message: "nothing was removed")
      }
    }
    _ = try Accounts(arguments, invocation).ask(.account(name, method: "DELETE"))
    if arguments.has("--json") {
      invocation.terminal.result(json: JSONValue.object([("removed", .string(name))]).serialised() + [ASCII.lineFeed])
    } else {
      invocation.terminal.talk("proofd: the account \(name.printable) was removed")
    }
    return .ok
  }
}
