package import Cryptography

/// A grant that a test began, with what its client would hold of it.
package struct SeededGrant: Sendable {
  package let grant: SimulatedGrant
  package let refreshToken: String
  /// nil if the settings or the scope want none.
  package let idToken: String?
  /// The key that was made for it.
  package let key: ProofKey?
}

extension Simulation {
  /// Begins a grant as a login would.
  ///
  /// - Throws: ``SimulatorError/option(_:)`` if there is no such client; ``CryptographyError`` if its ID token can't be
  ///   signed.
  package func seedGrant(_ seed: GrantSeed = GrantSeed()) throws -> SeededGrant {
    let settings = settings.authorizationServer
    let client = settings.clients.first { seed.clientID == nil || $0.id == seed.clientID }
    guard let client else { throw SimulatorError.option("there is no such client") }
    let key = seed.makesKey ? ProofKey.generate() : nil
    var seed = seed
    seed.jkt = key?.thumbprint ?? seed.jkt
    let (grant, refreshToken) = state.grants.begin(
      seed, clientID: client.id, nowUnixSeconds: state.now(at: .authorizationServer))
    let hasIDToken = IDToken.belongs(to: grant.scope, isFirst: true, settings.idToken)
    let idToken = hasIDToken ? try IDToken.make(for: grant, state) : nil
    return SeededGrant(grant: grant, refreshToken: refreshToken, idToken: idToken, key: key)
  }

  /// All grants, in order of their beginning.
  package var grants: [SimulatedGrant] { state.grants.all }

  /// nil if there is none of that number.
  package func grant(_ id: Int) -> SimulatedGrant? { state.grants.grant(id) }

  /// Makes every token of a grant worthless.
  ///
  /// - Returns: whether there is such a grant.
  @discardableResult
  package func revokeGrant(_ id: Int) -> Bool { state.grants.revoke(id, .admin) }
}
