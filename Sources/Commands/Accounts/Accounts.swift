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

  /// The daemon's if one answers, else those of the store the configuration names.
  init(_ arguments: Arguments, _ invocation: Invocation) throws(CommandFailure) {
    let passphrase = PassphraseSource(arguments, invocation)
    let control = try ControlClient(arguments, invocation, limit: Self.answerLimit)
    if try control.answers() {
      // Its configuration may be another; without one nothing can be said, and one question is enough.
      let configuration = try? ConfigurationFile.read(arguments, invocation).configuration
      self.init(
        DaemonAccounts(control: control), passphrase: passphrase, isNew: configuration.map(Self.lacksStore) ?? false)
    } else {
      let configuration = try ConfigurationFile.load(arguments, invocation, quietly: true)
      self.init(
        try StoreAccounts(configuration), passphrase: passphrase, isNew: Self.lacksStore(configuration))
    }
  }

  /// A passphrase will make the store.
  private static func lacksStore(_ configuration: Configuration) -> Bool {
    configuration.store.key == .passphrase && !SQLiteCredentialStore.exists(in: configuration.stateDirectory)
  }

  /// Locked and unlocked is a running daemon; without one a passphrase can only be tested.
  var isDaemon: Bool { client.isDaemon }

  /// The content of the answer.
  ///
  /// - Throws: what the problem says, with the exit code of its kind.
  func ask(_ request: AccountsRequest) throws(CommandFailure) -> JSONValue {
    let answer = try client.perform(request)
    guard answer.status == AccountsAnswer.locked else { return try answer.success() }
    guard let secret = try passphrase.read(isNew: isNew) else {
      guard !isDaemon else { return try answer.success() }
      throw CommandFailure(
        exitCode: .loginOrUnlockNeeded, message: "the credential store is locked, and no daemon runs",
        hint: "give the passphrase with \(Self.passphraseOption.name)")
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
