import HTTPWire

extension Verb {
  static let whoami = Verb(
    name: "whoami", summary: "show who an account is",
    about: """
      Name, e-mail, picture and subject, as the ID token of the login says. NAME is a credential's name, which means its
      default account, or NAME/ACCOUNT. Works with and without a daemon. Exit code 3 if a login or an unlock is needed.
      """,
    options: [.config, .json, Accounts.passphraseOption],
    operands: [Operand(name: "NAME")],
    examples: [
      ("proofd whoami acme", "who the default account of acme is"),
      ("proofd whoami acme/work --json | jq -r .email", "one claim for programs"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    let accounts = try Accounts(arguments, invocation)
    let identity = try accounts.ask(.account(arguments.operand("NAME"), "identity"))
    if arguments.has("--json") {
      invocation.terminal.result(json: identity.serialised() + [ASCII.lineFeed])
      return .ok
    }
    for line in PropertyList.lines(identity.objectValue ?? []) { invocation.terminal.result(line) }
    return .ok
  }
}
