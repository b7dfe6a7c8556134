import Configuration
import Credentials
import EventLoop
import OAuth

/// The values of the configuration as the credentials take them.

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

  /// As the user knows it.
  var kindName: String {
    switch self {
    case .environment: "environment"
    case .file: "file"
    case .command: "command"
    case .literal: "literal"
    }
  }
}

extension StaticPlacement {
  init(_ placement: StaticCredential.Placement) {
    self =
      switch placement {
      case .bearer: .bearer
      case .basic(let username, _): .basic(username: username)
      case .field(let name, _): .field(name: name)
      case .query(let name, _): .query(name: name)
      }
  }
}

extension TokenTargetKey {
  init(_ target: TokenTarget) {
    self.init(
      audience: target.audience, resources: target.resource, scope: target.scope,
      parameters: target.parameters.map { ($0.name, $0.value) })
  }
}

extension StoreKeySource {
  init(_ key: StoreConfiguration.Key) {
    self =
      switch key {
      case .file(let path): .file(path: path)
      case .passphrase: .passphrase
      case .systemd(let name):
        .systemd(name: name, directory: ProcessEnvironment.variables["CREDENTIALS_DIRECTORY"])
      }
  }
}

extension UnlockPolicy {
  init(_ policy: StoreConfiguration.UnlockPolicy) {
    self =
      switch policy {
      case .none, .untilLocked: .untilLocked
      case .always: .always
      case .session(let limit), .appLifecycle(let limit): .session(limit)
      }
  }
}

extension LoginProfile.Origin {
  /// nil for a grant whose tokens are not worth keeping.
  init?(_ grant: ClientProfile.Grant) {
    switch grant {
    case .authorizationCode: self = .authorizationCode
    case .deviceCode: self = .deviceCode
    case .password(let profile):
      self = .password(username: profile.username, password: SecretOrigin(profile.password))
    case .clientCredentials, .jwtBearer, .tokenExchange: return nil
    }
  }
}

extension MachineGrant {
  /// - Parameter book: where another credential is found whose token is exchanged.
  init(_ grant: ClientProfile.Grant, in book: AccountBook) {
    switch grant {
    case .jwtBearer(.given(let assertion)): self = .jwtBearer(.given(SecretOrigin(assertion)))
    case .jwtBearer(.signed(let assertion)):
      self = .jwtBearer(
        .signed(
          AssertionTemplate(
            issuer: assertion.issuer, subject: assertion.subject, audience: assertion.audience,
            lifetime: assertion.lifetime, keyID: assertion.key.keyID, algorithm: assertion.key.algorithm,
            claims: assertion.claims.map { ($0.name, $0.value) }), key: SecretOrigin(assertion.key.privateKey)))
    case .tokenExchange(let exchange):
      let subject: Exchange.Subject
      switch exchange.subject {
      case .token(let token): subject = .given(SecretOrigin(token))
      case .credential(let reference):
        let name = AccountName(profile: reference.name, account: reference.account)
        guard let source = book.ownSource(of: name) else {
          preconditionFailure("the configuration names a credential it does not have")
        }
        subject = .token(of: source)
      }
      self = .tokenExchange(
        Exchange(
          subject: subject, subjectType: exchange.subjectTokenType,
          actor: exchange.actor.map { (SecretOrigin($0.token), $0.tokenType) },
          requestedType: exchange.requestedTokenType))
    case .clientCredentials: self = .clientCredentials
    case .authorizationCode, .deviceCode, .password: preconditionFailure("a login is no machine's grant")
    }
  }
}

extension ClientRegistration {
  init(_ name: String, _ client: ClientProfile) throws(DaemonError) {
    let server: Server
    if let endpoint = client.tokenEndpoint {
      server = .tokenEndpoint(endpoint)
    } else {
      do throws(Issuer.Violation) {
        server = .issuer(try Issuer(client.issuer ?? "", allowsInsecure: client.allowInsecure))
      } catch {
        throw .credential(name: name, reason: "the issuer cannot be used: \(error)")
      }
    }
    let authentication: Authentication
    switch client.authentication {
    case .none: authentication = .none
    case .basic(let secret): authentication = .basic(SecretOrigin(secret))
    case .post(let secret): authentication = .post(SecretOrigin(secret))
    case .clientSecretJWT(let secret, let audience):
      authentication = .clientSecretJWT(SecretOrigin(secret), audience: audience)
    case .privateKeyJWT(let key, let audience):
      authentication = .privateKeyJWT(
        SigningKeyOrigin(text: SecretOrigin(key.privateKey), keyID: key.keyID, algorithm: key.algorithm),
        audience: audience)
    case .tls: authentication = .tls
    }
    self.init(
      name: name, server: server, clientID: client.clientID, authentication: authentication,
      binding: client.dpop ? .dpop(allowBearer: client.allowBearer) : .bearer)
  }
}

extension TLSIdentity {
  init(_ certificate: ClientCertificate) {
    self.init(certificateChainFile: certificate.chainFile, privateKeyFile: certificate.keyFile)
  }
}

extension ClientProfile.Grant {
  /// The credential whose token it exchanges, if it is one of ours.
  var subject: AccountName? {
    guard case .tokenExchange(let exchange) = self, case .credential(let reference) = exchange.subject else {
      return nil
    }
    return AccountName(profile: reference.name, account: reference.account)
  }
}
