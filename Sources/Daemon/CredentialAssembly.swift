import Configuration
import Credentials
import Cryptography
import EventLoop
import HTTPWire
import OAuth
import Tracing

/// The token sources of a configuration: one per static credential, one per token key of the others. Routes that ask
/// for the same token share its source.
struct CredentialAssembly {
  private var sources: [RouteCredential: TokenSource] = [:]
  /// In the order of the configuration, for the status.
  private(set) var all: [TokenSource] = []

  init(
    _ configuration: Configuration, control: ControlLoop, hub: RecordHub, skews: ClockSkewTable,
    trust: inout TrustStore
  ) throws(DaemonError) {
    for profile in configuration.credentials {
      let trusted: String? = if case .client(let client) = profile.kind { client.certificateAuthorityFile } else { nil }
      let tls = try trust.trust(trusted, for: "credentials.\(profile.name).tls.ca")
      let environment = CredentialEnvironment(
        http: control.client(trusting: tls), events: { hub.append($0) }, troubles: { hub.append($0) },
        secrets: Self.announcer(profile.name), skews: skews)
      let wanted = Self.targets(of: profile, configuration)
      switch profile.kind {
      case .fixed(let fixed):
        let source = Self.source(profile.name, fixed, environment)
        all.append(source)
        for credential in wanted { sources[credential] = source }
      case .client(let client):
        guard case .clientCredentials = client.grant else {
          throw .credential(name: profile.name, reason: "grant: \(client.grant.name) cannot be served")
        }
        let oauth = OAuthClient(try Self.registration(profile.name, client), environment: environment)
        for credential in wanted {
          let name = wanted.count == 1 ? profile.name : profile.name + Self.describe(credential.target)
          let source = oauth.clientCredentials(
            name: name, grant: ClientCredentialsGrant(target: GrantTarget(credential.target)))
          all.append(source)
          sources[credential] = source
        }
      }
    }
  }

  func source(for credential: RouteCredential) -> TokenSource? { sources[credential] }

  /// The token keys the routes ask for, each once.
  private static func targets(of profile: CredentialProfile, _ configuration: Configuration) -> [RouteCredential] {
    var wanted: [RouteCredential] = []
    for case let credential? in configuration.routes.map(\.credential)
    where credential.name == profile.name && !wanted.contains(credential) {
      wanted.append(credential)
    }
    return wanted
  }

  private static func describe(_ target: TokenTarget) -> String {
    let parts = [target.audience].compactMap { $0 } + target.resource + target.scope
    return parts.isEmpty ? "" : " (\(parts.joined(separator: " ")))"
  }

  private static func source(
    _ name: String, _ fixed: StaticCredential, _ environment: CredentialEnvironment
  ) -> TokenSource {
    let placement: StaticPlacement =
      switch fixed.placement {
      case .bearer: .bearer
      case .basic(let username, _): .basic(username: username)
      case .field(let name, _): .field(name: name)
      case .query(let name, _): .query(name: name)
      }
    return TokenSource(
      name: name, secret: SecretOrigin(fixed.secret), placement: placement, reread: fixed.reread,
      environment: environment)
  }

  private static func registration(
    _ name: String, _ client: ClientProfile
  ) throws(DaemonError) -> ClientRegistration {
    let server: ClientRegistration.Server
    if let endpoint = client.tokenEndpoint {
      server = .tokenEndpoint(endpoint)
    } else {
      do throws(Issuer.Violation) {
        server = .issuer(try Issuer(client.issuer ?? "", allowsInsecure: client.allowInsecure))
      } catch {
        throw .credential(name: name, reason: "the issuer cannot be used: \(error)")
      }
    }
    let authentication: ClientRegistration.Authentication
    switch client.authentication {
    case .none: authentication = .none
    case .basic(let secret): authentication = .basic(SecretOrigin(secret))
    case .post(let secret): authentication = .post(SecretOrigin(secret))
    case .clientSecretJWT, .privateKeyJWT, .tls:
      throw .credential(name: name, reason: "client_auth: \(client.authentication.name) cannot be served")
    }
    return ClientRegistration(
      name: name, server: server, clientID: client.clientID, authentication: authentication,
      binding: client.dpop ? .dpop(allowBearer: client.allowBearer) : .bearer)
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

extension SecretOrigin {
  init(_ reference: SecretReference) {
    self =
      switch reference {
      case .environment(let name): .environment(name)
      case .file(let path): .file(path)
      case .command(let words): .command(words)
      case .literal(let secret): .literal(secret)
      }
  }
}

extension GrantTarget {
  init(_ target: TokenTarget) {
    self.init(
      scope: target.scopeParameter, audience: target.audience, resources: target.resource,
      parameters: target.parameters.map { ($0.name, $0.value) })
  }
}
