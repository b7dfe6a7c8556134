import Cryptography
import HTTPWire
import OAuth

/// What a stored grant must be to be used as the configuration wants it now.
struct GrantRules: Sendable {
  let registration: ClientRegistration

  /// Nothing is renewed this close to the end of a session.
  static let sessionMarginSeconds: Int64 = 30

  /// The binding of the grant's tokens.
  ///
  /// - Throws: why a person has to see to it; before anything is sent.
  func binding(of grant: StoredGrant, wallUnixSeconds now: Int64) throws(FetchFailure) -> TokenBinding {
    let record = grant.record
    switch record.condition {
    case .usable: break
    case .refused: throw .refused(record.name)
    case .rotationInterrupted: throw .rotationInterrupted(record.name)
    }
    if let end = record.sessionExpiresAtUnixSeconds, now + Self.sessionMarginSeconds >= end {
      throw .sessionExpired(record.name)
    }
    if let failure = mismatch(record) { throw failure }
    return try binding(of: grant)
  }

  /// What of the configuration the grant does not fit, as far as its record says.
  func mismatch(_ record: GrantRecord) -> FetchFailure? {
    guard record.clientID == registration.clientID, record.issuer == registration.server.issuer else {
      return .person(
        .loginRequired, "the grant was given to another client than the configuration has now",
        next: "Correct issuer and client_id, or give the account a new grant")
    }
    switch (registration.binding, record.proofKeyThumbprint) {
    case (.dpop, nil):
      return .person(
        .keyMissing, "the profile has dpop: true and the grant has no key",
        next: "Give the account a grant that is bound to a key, or take dpop: true away")
    case (.bearer, .some):
      return FetchFailure(
        kind: .refused, code: "dpop_not_configured",
        detail: "the grant is bound to a key and the profile lacks dpop: true",
        next: "Set dpop: true")
    default: return nil
    }
  }

  /// A grant that is bound to a key is never used without it, nor with another. RFC 9449 §5
  private func binding(of grant: StoredGrant) throws(FetchFailure) -> TokenBinding {
    guard let thumbprint = grant.record.proofKeyThumbprint, case .dpop(let allowBearer) = registration.binding else {
      return .bearer
    }
    guard let der = grant.secrets.proofKey else {
      throw .person(
        .keyMissing, "the key the grant is bound to is not in the store",
        next: "Restore the store from a backup, or give the account a new grant")
    }
    guard let key = try? ProofKey(pkcs8: der), key.thumbprint == thumbprint else {  // no key is as bad as another one
      throw .person(
        .keyMismatch, "the key in the store is not the one the grant is bound to",
        next: "Restore the store from a backup, or give the account a new grant")
    }
    return .dpop(key: key, allowBearer: allowBearer)
  }

  /// The grant's secrets go only where they came from; the first use of an imported grant says where that is.
  static func check(_ endpoint: HTTPURL, for record: GrantRecord) throws(FetchFailure) {
    guard record.origins.isEmpty || record.origins.contains(endpoint.origin.description) else {
      throw .person(
        .loginRequired,
        "the token endpoint is at \(endpoint.origin) now, and the grant may only go to \(record.origins.joined(separator: ", "))",
        next: "If the server has moved, give the account a new grant; if not, somebody is interfering")
    }
  }
}

extension ClientRegistration.Server {
  /// As it was written; nil if only the endpoint was given.
  var issuer: String? {
    switch self {
    case .issuer(let issuer): issuer.text
    case .tokenEndpoint: nil
    }
  }
}
