import HTTPWire

extension Verb {
  static let lock = Verb(
    name: "lock", summary: "lock the credential store of the running daemon",
    about: """
      The daemon forgets the key of the store and every token; requests are refused until proofd unlock. Without a daemon
      nothing is unlocked, and there is nothing to do.
      """,
    options: [.config, .json],
    examples: [("proofd lock", "before leaving the desk")]
  ) { (arguments, invocation) throws(CommandFailure) in
    let accounts = try Accounts(arguments, invocation)
    let status = try accounts.ask(.lock)
    if arguments.has("--json") {
      invocation.terminal.result(json: status.serialised() + [ASCII.lineFeed])
    } else {
      let line = accounts.isDaemon ? LockText.line(status) : "no daemon runs: nothing is unlocked"
      invocation.terminal.talk("proofd: \(line)")
    }
    return .ok
  }

  static let unlock = Verb(
    name: "unlock", summary: "unlock the credential store with its passphrase",
    about: """
      Asks for the passphrase of the store, twice when there is no store yet and one is made. How long it stays open is said
      by `store.unlock` in the configuration. Without a daemon the passphrase is only tested: no process is there to stay
      open.
      """,
    options: [.config, .json, Accounts.passphraseOption],
    examples: [
      ("proofd unlock", "asks for the passphrase"),
      ("proofd unlock --passphrase-stdin <passphrase.txt", "takes the first line of a file"),
    ]
  ) { (arguments, invocation) throws(CommandFailure) in
    let accounts = try Accounts(arguments, invocation)
    let source = PassphraseSource(arguments, invocation)
    guard let passphrase = try source.read(isNew: accounts.isNew) else {
      throw .usage("there is no terminal to ask at", hint: "use --passphrase-stdin")
    }
    let status = try accounts.unlock(passphrase)
    if arguments.has("--json") {
      invocation.terminal.result(json: status.serialised() + [ASCII.lineFeed])
    } else {
      let line =
        accounts.isDaemon ? LockText.line(status) : "the passphrase is right; no daemon runs that could stay unlocked"
      invocation.terminal.talk("proofd: \(line)")
    }
    return .ok
  }
}

/// The state of the lock in words.
enum LockText {
  static func line(_ status: JSONValue) -> String {
    guard status["passphrase"]?.boolValue == true else { return "the credential store has no passphrase" }
    if status["locked"]?.boolValue == true { return "the credential store is locked" }
    guard let seconds = status["locks_in_seconds"]?.int64Value else { return "the credential store is unlocked" }
    return "the credential store is unlocked for \(Quantity.seconds(seconds))"
  }
}
