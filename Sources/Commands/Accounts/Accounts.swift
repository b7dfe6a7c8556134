import Configuration
import Credentials
import Cryptography
import HTTPWire

/// What verbs ask of accounts: of the daemon when one runs. A locked store is unlocked on the way if a person is there to
/// be asked, or the passphrase is on standard input.
struct Accounts {
  let client: any AccountsClient
  private let passphrase: PassphraseSource
  /// There is no store: the passphrase makes one.
  let isNew: Bool

  /// A login is proved by a refresh, which may wait for an issuer.
  static let answerLimit = Duration.seconds(60)

  static let passphraseOption = Option(
    name: "--passphrase-stdin", help: "the first line of standard input unlocks the store")

  init(_ client: any AccountsClient, passphrase: PassphraseSource, isNew: Bool = false) {
    self.client = client
    self.passphrase = passphrase
    self.isNew = isNew
  }

  init(_ arguments: Arguments, _ invocation: Invocation) throws(CommandFailure) {
    let passphrase = PassphraseSource(arguments, invocation)
    let control = try ControlClient(arguments, invocation, limit: Self.answerLimit)
    self.init(
      DaemonAccounts(control: control), passphrase: passphrase, isNew: Self.isStoreMissing(arguments, invocation))
  }

  /// As far as the configuration can be read; the daemon's may be another.
  private static func isStoreMissing(_ arguments: Arguments, _ invocation: Invocation) -> Bool {
    // Without one nothing can be said, and one question is enough.
    guard let configuration = try? ConfigurationFile.read(arguments, invocation).configuration else { return false }
    return configuration.store.key == .passphrase && !SQLiteCredentialStore.exists(in: configuration.stateDirectory)
  }

  /// The content of the answer.
  ///
  /// - Throws: what the problem says, with the exit code of its kind.
  func ask(_ request: AccountsRequest) throws(CommandFailure) -> JSONValue {
    let answer = try client.perform(request)
    guard answer.status == AccountsAnswer.locked, let secret = try passphrase.read(isNew: isNew) else {
      return try answer.success()
    }
    _ = try unlock(secret)
    return try client.perform(request).success()
  }

  /// - Returns: the state of the lock.
  func unlock(_ passphrase: Secret) throws(CommandFailure) -> JSONValue {
    let content = JSONValue.object([("passphrase", .string(passphrase.revealedString()))])
    return try client.perform(AccountsRequest(method: "POST", path: "/v1/unlock", content: content)).success()
  }
}

extension AccountsAnswer {
  static let locked: UInt16 = 423
}
