import Cryptography
package import OAuth
import Locking

/// One client at one authorization server: its key, its nonces, its knowledge of the server, and the token sources that
/// share them. Any thread.
///
/// The key is made with the client and lives as long: all its tokens and proofs are by this key. RFC 9449 §5
package final class OAuthClient: Sendable {
  let registration: ClientRegistration
  let binding: TokenBinding
  let environment: CredentialEnvironment
  let caller: AuthorizationServerCaller
  private let nonces = NonceCells()
  private let metadata: MetadataCache?
  private let secret: SecretReader?
  /// What the redactor was told of.
  private let heldSecret = Protected<Secret?>(nil)

  package init(_ registration: ClientRegistration, environment: CredentialEnvironment) {
    self.registration = registration
    self.environment = environment
    binding =
      switch registration.binding {
      case .bearer: .bearer
      case .dpop(let allowBearer): .dpop(key: .generate(), allowBearer: allowBearer)
      }
    caller = AuthorizationServerCaller(credential: registration.name, nonces: nonces, environment: environment)
    switch registration.server {
    case .issuer(let issuer): metadata = MetadataCache(issuer, caller: caller, time: environment.time)
    case .tokenEndpoint: metadata = nil
    }
    switch registration.authentication {
    case .none: secret = nil
    case .basic(let origin), .post(let origin):
      secret = SecretReader(origin, reread: TokenSource.rereadDefault, time: environment.time)
    }
  }

  deinit { if let held = heldSecret.withLock({ $0 }) { environment.secrets.release(held) } }

  /// `jkt` of the key tokens are bound to. RFC 7638
  package var proofKeyThumbprint: String? { binding.proofKey?.thumbprint }

  /// A source of tokens for the client itself, one per token key.
  package func clientCredentials(name: String, grant: ClientCredentialsGrant) -> TokenSource {
    TokenSource(
      name: name, fetcher: ClientCredentialsFetcher(client: self, grant: grant), nonces: nonces,
      environment: environment)
  }

  /// Where to ask for tokens, from memory or by discovery.
  func tokenEndpoint() async throws(FetchFailure) -> TokenEndpoint {
    switch registration.server {
    case .tokenEndpoint(let url): return TokenEndpoint(url: url, metadata: nil)
    case .issuer:
      guard let metadata else { preconditionFailure("an issuer has a metadata cache") }
      let found = try await metadata.metadata()
      return TokenEndpoint(url: found.tokenEndpoint, metadata: found)
    }
  }

  /// The server no longer has what its metadata said.
  func forgetMetadata() { metadata?.forget() }

  /// What the client authenticates itself with; the redactor knows it before anybody else does.
  func authentication() async throws(FetchFailure) -> ClientAuthentication {
    guard let secret else { return .none(clientID: registration.clientID) }
    let value = try await secret.read()
    do throws(UnmaskableSecret) {
      try hold(value)
    } catch {
      throw secret.failure(.unmaskable(error))
    }
    switch registration.authentication {
    case .none: return .none(clientID: registration.clientID)
    case .basic: return .basic(clientID: registration.clientID, secret: value)
    case .post: return .post(clientID: registration.clientID, secret: value)
    }
  }

  var warnings: [String] { secret?.warnings ?? [] }

  private func hold(_ secret: Secret) throws(UnmaskableSecret) {
    guard heldSecret.withLock({ $0 != secret }) else { return }
    try environment.secrets.hold(secret)
    let replaced = heldSecret.withLock { held in
      defer { held = secret }
      return held
    }
    if let replaced { environment.secrets.release(replaced) }
  }
}
