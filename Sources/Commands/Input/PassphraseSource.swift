import Cryptography

/// Where the passphrase of the store comes from.
enum PassphraseSource {
  /// The first line of standard input.
  case standardInput
  /// The person at the terminal.
  case person(Terminal)
  /// Nobody can be asked.
  case nowhere

  init(_ arguments: Arguments, _ invocation: Invocation) {
    if arguments.has(Accounts.passphraseOption.name) {
      self = .standardInput
    } else {
      self = SecretInput.hasTerminal ? .person(invocation.terminal) : .nowhere
    }
  }

  /// nil if nobody can be asked.
  ///
  /// - Parameter isNew: a store is made with it; a person has to enter it twice.
  func read(isNew: Bool = false) throws(CommandFailure) -> Secret? {
    switch self {
    case .nowhere: return nil
    case .standardInput: return try SecretInput.line()
    case .person(let terminal):
      let passphrase = try SecretInput.prompt(
        isNew ? "new passphrase of the credential store" : "passphrase of the credential store", terminal)
      guard isNew else { return passphrase }
      guard try SecretInput.prompt("the same again", terminal) == passphrase else {
        throw .usage("the two are not the same")
      }
      return passphrase
    }
  }
}
