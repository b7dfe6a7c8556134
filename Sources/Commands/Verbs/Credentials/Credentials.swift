import HTTPWire

extension Verb {
  static let credentials = Verb(
    name: "credentials", summary: "list, show, tag, import and remove accounts",
    about: """
      An account is one login under a credential of the configuration: NAME is the credential's default account, NAME/ACCOUNT
      the one of that name, NAME/ the one without a name. These verbs ask the running daemon, and work on the store themselves
      when there is none.
      """,
    options: [],
    examples: [
      ("proofd credentials list", "every account with its state"),
      ("proofd credentials import acme/work <refresh-token.txt", "takes over a login"),
    ],
    subverbs: [
      credentialsList, credentialsShow, credentialsDefault, credentialsTag, credentialsFind, credentialsRemove,
      credentialsImport,
    ]
  ) { (_, invocation) throws(CommandFailure) in .usage }

  static let accountOptions: [Option] = [.config, .json, Accounts.passphraseOption]
  static let accountName = Operand(name: "NAME")
}

/// Accounts on standard output.
struct AccountPrinter {
  let terminal: Terminal
  let isJSON: Bool
  /// Unix seconds.
  let now: Int64

  func list(_ accounts: [JSONValue]) {
    if isJSON { return terminal.result(json: JSONValue.array(accounts).serialised() + [ASCII.lineFeed]) }
    guard !accounts.isEmpty else { return terminal.talk("proofd: there are no accounts") }
    let lines = Table.render(
      ["ACCOUNT", "STATE", "EXPIRES", "LAST REFRESH", "TAGS", "NEXT"], accounts.map(row)
    ) { row, column, cell in column == 1 ? terminal.coloured(cell, AccountFacts(accounts[row]).colour) : cell }
    for line in lines { terminal.result(line) }
  }

  func show(_ account: JSONValue) {
    if isJSON { return terminal.result(json: account.serialised() + [ASCII.lineFeed]) }
    let members = (account.objectValue ?? []).filter {
      !["targets", "detail", "last_failure", "warnings"].contains($0.0)
    }
    for line in PropertyList.lines(members, now: now) { terminal.result(line) }
    for line in AccountFacts(account).remarks(now: now, terminal) { terminal.result(line) }
    for target in account["targets"]?.arrayValue ?? [] {
      terminal.result("token for \(AccountFacts(target).target.printable)")
      let facts = (target.objectValue ?? []).filter { ["state", "expires_at"].contains($0.0) }
      for line in PropertyList.lines(facts, now: now) { terminal.result("  \(line)") }
    }
  }

  private func row(_ account: JSONValue) -> [String] {
    let facts = AccountFacts(account)
    return [
      facts.name + (account["default"]?.boolValue == true ? " *" : ""), facts.state,
      Quantity.moment(facts.expiresAt, now: now), Quantity.moment(account["last_refresh_at"]?.int64Value, now: now),
      (account["tags"]?.stringArrayValue ?? []).joined(separator: ","), account["next"]?.stringValue ?? "-",
    ]
  }
}
