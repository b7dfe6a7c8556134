import HTTPWire

extension Verb {
  static let credentialsFind = Verb(
    name: "credentials find", summary: "find accounts by name, tag, issuer, client, person or state",
    about: """
      TEXT is looked for, in any case, in name, tags, issuer, client id and, where the store can be read, in subject, e-mail
      and name of the person. Options narrow the search; all must match. Exit code 1 if nothing is found.
      """,
    options: [
      Option(name: "--tag", value: "TAG", help: "has this tag; may be repeated"),
      Option(name: "--issuer", value: "TEXT", help: "the issuer holds this"),
      Option(name: "--client-id", value: "ID", help: "of this client"),
      Option(name: "--person", value: "TEXT", help: "subject, e-mail or name holds this"),
      Option(name: "--state", value: "STATE", help: "in this state: ready, login_required, …"),
    ] + accountOptions,
    operands: [Operand(name: "TEXT", isOptional: true)],
    examples: [
      ("proofd credentials find ann@example.com", "the accounts of a person"),
      ("proofd credentials find --tag billing --state login_required --json", "what has to be logged in anew"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    let search = AccountSearch(arguments)
    let accounts = try Accounts(arguments, invocation)
    var found: [JSONValue] = []
    for account in try accounts.ask(.list).arrayValue ?? [] {
      let identity = search.wantsIdentity ? try accounts.identity(account) : .null
      if search.matches(account, identity) { found.append(account) }
    }
    AccountPrinter(arguments, invocation).list(found)
    return found.isEmpty ? .failed : .ok
  }
}

/// What an account has to be like.
struct AccountSearch {
  private let text: String
  private let tags: [String]
  private let issuer: String?
  private let clientID: String?
  private let person: String?
  private let state: String?

  init(_ arguments: Arguments) {
    text = arguments.operand("TEXT")
    tags = arguments.all("--tag")
    issuer = arguments.last("--issuer")
    clientID = arguments.last("--client-id")
    person = arguments.last("--person")
    state = arguments.last("--state")
  }

  /// Who the person is has to be asked for.
  var wantsIdentity: Bool { !text.isEmpty || person != nil }

  func matches(_ account: JSONValue, _ identity: JSONValue) -> Bool {
    let ownTags = account["tags"]?.stringArrayValue ?? []
    let names = ["name", "issuer", "client_id"].compactMap { account[$0]?.stringValue } + ownTags
    let persons = ["subject", "email", "name", "preferred_username"].compactMap { identity[$0]?.stringValue }
    return (text.isEmpty || Self.holds(names + persons, text)) && tags.allSatisfy(ownTags.contains)
      && (issuer.map { Self.holds([account["issuer"]?.stringValue ?? ""], $0) } ?? true)
      && (clientID.map { account["client_id"]?.stringValue == $0 } ?? true)
      && (person.map { Self.holds(persons, $0) } ?? true)
      && (state.map { account["state"]?.stringValue == $0 } ?? true)
  }

  private static func holds(_ texts: [String], _ part: String) -> Bool {
    let part = part.lowercased()
    return texts.contains { $0.lowercased().contains(part) }
  }
}

extension Accounts {
  /// Who an account is; nothing where that is not known, or can't be read now.
  fileprivate func identity(_ account: JSONValue) throws(CommandFailure) -> JSONValue {
    let answer = try client.perform(.account(AccountFacts(account).name, "identity"))
    return answer.status == 200 ? answer.json : .null
  }
}
