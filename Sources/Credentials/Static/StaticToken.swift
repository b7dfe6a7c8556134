import Cryptography
import HTTPWire
import OAuth

/// How a secret that is sent as it is goes into a request.
package enum StaticPlacement: Sendable, Equatable {
  /// `Authorization: Bearer SECRET`. RFC 6750 §2.1
  case bearer
  /// `Authorization: Basic …` of user name and secret. RFC 7617 §2
  case basic(username: String)
  /// A field of its own, such as `X-Api-Key`.
  case field(name: String)
  /// A query parameter.
  case query(name: String)
}

/// Reads a secret and puts it where the API wants it.
struct StaticTokenFetcher: TokenFetching {
  let placement: StaticPlacement
  let reader: SecretReader
  let lifetime: TokenLifetime

  var kind: TokenSourceKind { reader.origin.kind }
  var warnings: [String] { reader.warnings }

  func failure(_ refusal: UnmaskableSecret) -> FetchFailure { reader.failure(.unmaskable(refusal)) }

  func fetch(replacing current: Secret?) async throws(FetchFailure) -> FetchedToken {
    let secret = try await reader.read(anew: kind == .command)
    guard placement.canCarry(secret) else {
      throw FetchFailure(
        kind: .refused, code: "secret_not_sendable",
        detail: "the secret has characters that a header field can't carry",
        pause: kind == .file ? TokenLifetime.fileCheckInterval : nil, isOfSetUp: true)
    }
    let (placed, derived) = placement.place(secret)
    return FetchedToken(
      secret: secret, derived: derived, placement: placed, proofKey: nil, lifetime: lifetime, expiresInSeconds: nil)
  }
}

extension StaticPlacement {
  /// Whether the secret survives on the way. In a query and in Base64 anything does.
  func canCarry(_ secret: Secret) -> Bool {
    switch self {
    case .basic, .query: true
    case .bearer: secret.withUnsafeBytes { $0.allSatisfy { (0x21...0x7E).contains($0) } }
    case .field:
      // `field-value`, in ASCII and without space at the ends. RFC 9110 §5.5
      secret.withUnsafeBytes { bytes in
        bytes.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
          && bytes.first.map { $0 > 0x20 } == true && bytes.last.map { $0 > 0x20 } == true
      }
    }
  }

  /// The placed value, and what of it the redactor can't derive from the secret.
  func place(_ secret: Secret) -> (AccessToken.Placement, derived: Secret?) {
    let text = { secret.revealedString() }
    switch self {
    case .bearer: return (.field(name: "Authorization", value: Secret(utf8: "Bearer \(text())")), nil)
    case .basic(let username):
      let pair = secret.withUnsafeBytes { Base64.encode(Array("\(username):".utf8) + $0) }
      return (.field(name: "Authorization", value: Secret(utf8: "Basic \(pair)")), Secret(utf8: pair))
    case .field(let name): return (.field(name: name, value: secret), nil)
    case .query(let name):
      let encoded = secret.withUnsafeBytes { PercentEncoding.encode(bytes: $0) }
      return (.query(name: PercentEncoding.encode(name), value: Secret(utf8: encoded)), Secret(utf8: encoded))
    }
  }
}

extension TokenSource {
  /// How often a secret from a file or a command is read again if nothing else is said.
  package static let rereadDefault = Duration.seconds(60)

  /// A credential that is sent as it is.
  ///
  /// - Parameter reread: how often a file is read again even if it seems unchanged, and a command is run again.
  package convenience init(
    name: String, secret: SecretOrigin, placement: StaticPlacement, reread: Duration = rereadDefault,
    environment: CredentialEnvironment
  ) {
    let lifetime: TokenLifetime =
      switch secret {
      case .environment, .literal: .endless
      case .file: .file(reread: reread)
      case .command: .command(reread: reread)
      }
    self.init(
      name: name,
      fetcher: StaticTokenFetcher(
        placement: placement,
        reader: SecretReader(
          secret, reread: reread, time: environment.time, withheld: environment.secretVariables), lifetime: lifetime),
      nonces: NonceCells(), environment: environment)
  }
}
