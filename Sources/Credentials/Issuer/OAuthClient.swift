import Cryptography
import HTTPWire
import OAuth

/// One client at one authorization server: its knowledge of the server, what it authenticates itself with, and the key and
/// nonces of the tokens it gets for itself. Any thread.
package final class OAuthClient: Sendable {
  let registration: ClientRegistration
  /// The key is made with the client and lives as long: all tokens that it gets for itself, and their proofs, are by this
  /// key. A grant that is stored has its own. RFC 9449 §5
  let binding: TokenBinding
  let environment: CredentialEnvironment
  let nonces = NonceCells()
  private let metadata: MetadataCache?
  private let secret: HeldSecretReader?

  package init(_ registration: ClientRegistration, environment: CredentialEnvironment) {
    self.registration = registration
    self.environment = environment
    binding =
      switch registration.binding {
      case .bearer: .bearer
      case .dpop(let allowBearer): .dpop(key: .generate(), allowBearer: allowBearer)
      }
    let caller = AuthorizationServerCaller(credential: registration.name, nonces: nonces, environment: environment)
    switch registration.server {
    case .issuer(let issuer): metadata = MetadataCache(issuer, caller: caller, time: environment.time)
    case .tokenEndpoint: metadata = nil
    }
    secret = registration.authentication.secret.map { HeldSecretReader($0, environment: environment) }
  }

  /// `jkt` of the key tokens are bound to. RFC 7638
  package var proofKeyThumbprint: String? { binding.proofKey?.thumbprint }

  /// A source of tokens that need no person, one per token key.
  package func machine(name: String, grant: MachineGrant, target: TokenTargetKey) -> TokenSource {
    TokenSource(
      name: name, fetcher: grant.fetcher(client: self, target: target), nonces: nonces, environment: environment)
  }

  /// Calls the server with these nonces: those of an account, or the client's own.
  ///
  /// - Parameter name: whom the calls are logged for; nil for the client.
  func caller(nonces: NonceCells, for name: AccountName? = nil) -> AuthorizationServerCaller {
    AuthorizationServerCaller(
      credential: name?.description ?? registration.name, nonces: nonces, environment: environment)
  }

  /// Where to ask for tokens, from memory or by discovery.
  func tokenEndpoint() async throws(FetchFailure) -> TokenEndpoint {
    switch registration.server {
    case .tokenEndpoint(let url): return TokenEndpoint(url: url, metadata: nil)
    case .issuer:
      guard let metadata else { preconditionFailure("an issuer has a metadata cache") }
      let found = try await metadata.metadata()
      return TokenEndpoint(
        url: found.tokenEndpoint(mutualTLS: registration.authentication.usesMutualTLS), metadata: found)
    }
  }

  /// The server no longer has what its metadata said.
  func forgetMetadata() { metadata?.forget() }

  /// What the client authenticates itself with; the redactor knows it before anybody else does.
  func authentication() async throws(FetchFailure) -> ClientAuthentication {
    let clientID = registration.clientID
    guard let secret else {
      return registration.authentication.usesMutualTLS ? .tls(clientID: clientID) : .none(clientID: clientID)
    }
    let value = try await secret.read()
    switch registration.authentication {
    case .none, .tls: return .none(clientID: clientID)
    case .basic: return .basic(clientID: clientID, secret: value)
    case .post: return .post(clientID: clientID, secret: value)
    case .clientSecretJWT(_, let audience):
      let signer = try secret.signer { () throws(CryptographyError) in try JWSSigner(secret: value) }
      return .assertion(clientID: clientID, audience: audience, signer: signer)
    case .privateKeyJWT(let key, let audience):
      let signer = try secret.signer { () throws(CryptographyError) in
        try JWSSigner(key: SigningKey(parsing: value), algorithm: key.algorithm, keyID: key.keyID)
      }
      return .assertion(clientID: clientID, audience: audience, signer: signer)
    }
  }

  var warnings: [String] { secret?.warnings ?? [] }
}

/// Where tokens are asked for, and what the server says of itself, if it was asked.
struct TokenEndpoint: Sendable {
  let url: HTTPURL
  let metadata: AuthorizationServerMetadata?
}

extension ClientRegistration.Authentication {
  var secret: SecretOrigin? {
    switch self {
    case .none, .tls: nil
    case .basic(let origin), .post(let origin), .clientSecretJWT(let origin, _): origin
    case .privateKeyJWT(let key, _): key.text
    }
  }

  var usesMutualTLS: Bool { if case .tls = self { true } else { false } }
}
