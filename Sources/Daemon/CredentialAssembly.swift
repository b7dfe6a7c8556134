import Configuration
import Credentials
import Cryptography
import EventLoop
import HTTPTransport
import HTTPWire
import OAuth
import Tracing

/// The credentials of a configuration and the accounts behind them. Routes that ask for the same token share its source.
struct CredentialAssembly {
  let book: AccountBook
  private let secretVariables: Set<String>

  /// - Parameters:
  ///   - hub: where calls of authorization servers are logged; nil for nowhere.
  ///   - probes: told how far each refresh has come.
  init(
    _ configuration: Configuration, control: ControlLoop, hub: RecordHub?, skews: ClockSkewTable,
    trust: inout TrustStore, probes: RefreshProbes
  ) throws(DaemonError) {
    secretVariables = configuration.secretVariables
    let plain = try trust.trust(nil, for: "store")
    book = AccountBook(
      store: SQLiteCredentialStore(
        directory: configuration.stateDirectory, key: StoreKeySource(configuration.store.key), steps: probes.store),
      usesPassphrase: configuration.store.key == .passphrase,
      unlock: UnlockPolicy(configuration.store.unlock),
      environment: Self.environment("accounts", control.client(trusting: plain), hub, skews, secretVariables),
      step: probes.refresh)
    for profile in configuration.credentials { try add(profile, control, hub, skews, &trust) }
  }

  /// nil: the route's credential is none of the configuration's.
  func source(for credential: RouteCredential) -> TokenSource? {
    book.source(
      of: AccountName(profile: credential.name, account: credential.account), target: TokenTargetKey(credential.target))
  }

  /// The first requests need not wait, and a set-up mistake shows in the status at once.
  func warmUp(_ configuration: Configuration) {
    for case let credential? in configuration.routes.map(\.credential) { source(for: credential)?.acquire { _ in } }
  }

  private func add(
    _ profile: CredentialProfile, _ control: ControlLoop, _ hub: RecordHub?, _ skews: ClockSkewTable,
    _ trust: inout TrustStore
  ) throws(DaemonError) {
    let name = profile.name
    switch profile.kind {
    case .fixed(let fixed):
      let environment = Self.environment(
        name, control.client(trusting: try trust.trust(nil, for: name)), hub, skews, secretVariables)
      let secret = SecretOrigin(fixed.secret)
      book.add(name, kind: secret.kindName, allowsExport: profile.allowExport, target: TokenTargetKey()) { _ in
        TokenSource(
          name: name, secret: secret, placement: StaticPlacement(fixed.placement), reread: fixed.reread,
          environment: environment)
      }
    case .client(let client):
      let tls = try trust.trust(
        client.certificateAuthorityFile, identity: client.clientCertificate.map(TLSIdentity.init),
        for: "credentials.\(name).tls")
      let environment = Self.environment(name, control.client(trusting: tls), hub, skews, secretVariables)
      let registration = try ClientRegistration(name, client)
      let target = TokenTargetKey(client.target)
      if let origin = LoginProfile.Origin(client.grant) {
        book.add(
          LoginProfile(
            registration: registration, origin: origin, target: target,
            targets: client.targetMethod == .refresh ? .refresh : .tokenExchange),
          allowsExport: profile.allowExport, environment: environment)
      } else {
        let oauth = OAuthClient(registration, environment: environment)
        book.add(
          name, kind: client.grant.name, allowsExport: profile.allowExport, target: target,
          subject: client.grant.subject
        ) { [unowned book] target in
          oauth.machine(name: name, grant: MachineGrant(client.grant, in: book), target: target)
        }
      }
    }
  }

  private static func environment(
    _ name: String, _ http: HTTPClient, _ hub: RecordHub?, _ skews: ClockSkewTable, _ secretVariables: Set<String>
  ) -> CredentialEnvironment {
    CredentialEnvironment(
      http: http, events: { hub?.append($0) }, troubles: { hub?.append($0) }, secrets: announcer(name), skews: skews,
      secretVariables: secretVariables)
  }

  /// Every secret a credential comes by is masked in all output from then on, or not used.
  private static func announcer(_ name: String) -> SecretAnnouncer {
    SecretAnnouncer(
      hold: { (secret) throws(UnmaskableSecret) in
        do throws(HeldSecrets.Refusal) {
          try HeldSecrets.process.hold(secret, label: name)
        } catch {
          throw UnmaskableSecret(error)
        }
      }, release: { HeldSecrets.process.release($0) })
  }
}

extension UnmaskableSecret {
  init(_ refusal: HeldSecrets.Refusal) {
    self =
      switch refusal {
      case .tooShort: .tooShort(bytesMin: HeldSecrets.byteCountMin)
      case .tooLong: .tooLong(bytesMax: HeldSecrets.byteCountMax)
      case .tooMany: .tooMany(countMax: HeldSecrets.countMax)
      }
  }
}
