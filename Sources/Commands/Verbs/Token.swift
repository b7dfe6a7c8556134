import HTTPWire

extension Verb {
  static let token = Verb(
    name: "token", summary: "print an access token, for scripts",
    about: """
      Only of a credential with `allow_export: true`. A token that is about to expire is refreshed first. A DPoP token is of
      no use without its key: see proofd headers. Works with and without a daemon. Exit code 3 if a login or an unlock is
      needed.
      """,
    options: TokenOptions.all,
    operands: [Operand(name: "NAME")],
    examples: [
      ("proofd token acme --min-ttl 5m", "a token that lives for five minutes at least"),
      ("proofd token acme --json | jq .expires_at", "with its type and expiry"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    let request = AccountsRequest.account(
      arguments.operand("NAME"), "token", method: "POST", content: .object(try TokenOptions.members(arguments)))
    let answer = try Accounts(arguments, invocation).ask(request)
    if arguments.has("--json") {
      invocation.terminal.reveal(String(decoding: answer.serialised(), as: UTF8.self))
      return .ok
    }
    guard let token = answer["access_token"]?.stringValue else { throw ControlClient.unreadable("it has no token") }
    invocation.terminal.reveal(token.printable)
    return .ok
  }
}
