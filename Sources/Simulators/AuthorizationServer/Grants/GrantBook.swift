import Cryptography
import Locking

/// The grants the authorization server has given, with every refresh token of each.
final class GrantBook: Sendable {
  /// Above this number the oldest are forgotten, and their tokens unknown.
  static let grantsMax = 65_536
  /// Of each grant, the newest so many tokens are remembered.
  static let tokensMax = 256

  private let seed: Secret
  private let state = Protected(State())

  init(seed: Secret) { self.seed = seed }

  /// A refresh token as it is presented.
  struct Presented {
    var text: String
    var clientID: String
    /// Whether the client has no secret, so that its tokens are bound to a key. RFC 9449 §5
    var isPublic: Bool
    /// The key of the proof; nil without one.
    var jkt: String?
    var nowUnixSeconds: Int64
    /// Whether the key is looked at: not if proofs are ignored, nor before the proof is read.
    var judgesKey = true
  }

  /// Begins a grant.
  ///
  /// - Returns: the grant and its first refresh token.
  func begin(_ seed: GrantSeed, clientID: String, nowUnixSeconds now: Int64) -> (SimulatedGrant, refreshToken: String) {
    state.withLock { state in
      state.lastGrant += 1
      let grant = SimulatedGrant(
        id: state.lastGrant, clientID: clientID, subject: seed.subject, scope: seed.scope, audiences: seed.audiences,
        profile: seed.profile, sessionExpiryUnixSeconds: seed.sessionExpiryUnixSeconds, jkt: seed.jkt)
      var entry = Entry(grant: grant)
      let token = state.issue(for: &entry, self.seed, now)
      state.entries[grant.id] = entry
      if state.entries.count > Self.grantsMax { state.forget(state.lastGrant - Self.grantsMax) }
      return (grant, token)
    }
  }

  /// Finds the grant of a refresh token, and the token's number in it, without any effect.
  func find(_ text: String) -> (grant: SimulatedGrant, rotation: Int)? {
    state.withLock { state in
      guard let position = state.positions[text], let entry = state.entries[position.grant] else { return nil }
      return (entry.grant, position.rotation)
    }
  }

  /// Uses a refresh token: one that is used up already revokes its family.
  ///
  /// - Returns: the grant, and the refresh token that the answer names, if it names one.
  func redeem(
    _ presented: Presented, _ policy: RefreshPolicy
  ) throws(TokenRefusal) -> (SimulatedGrant, refreshToken: String?) {
    try state.withLock { state throws(TokenRefusal) in
      guard let position = state.positions[presented.text], var entry = state.entries[position.grant],
        var token = entry.tokens[position.rotation]
      else { throw TokenRefusal(.refreshUnknown, "the refresh token is not known") }
      defer { state.entries[position.grant] = entry }
      try entry.judge(token, presented, policy)
      entry.grant.refreshCount += 1
      guard policy.rotation == .always else { return (entry.grant, policy.rotation == .same ? presented.text : nil) }
      token.usedAtUnixSeconds = token.usedAtUnixSeconds ?? presented.nowUnixSeconds
      entry.tokens[position.rotation] = token
      entry.grant.rotation += 1
      return (entry.grant, state.issue(for: &entry, seed, presented.nowUnixSeconds))
    }
  }

  /// Revokes a grant with all its tokens, unless it is revoked already.
  ///
  /// - Returns: whether there is such a grant.
  @discardableResult
  func revoke(_ id: Int, _ reason: SimulatedGrant.Revocation) -> Bool {
    state.withLock { state in
      guard let grant = state.entries[id]?.grant else { return false }
      if grant.isAlive { state.entries[id]?.grant.revocation = reason }
      return true
    }
  }

  func grant(_ id: Int) -> SimulatedGrant? { state.withLock { $0.entries[id]?.grant } }

  /// In order of their beginning.
  var all: [SimulatedGrant] { state.withLock { $0.entries.values.map(\.grant) }.sorted { $0.id < $1.id } }
}

extension GrantBook {
  private struct Token {
    var text: String
    var issuedAtUnixSeconds: Int64
    /// When it was used up; nil while it is fresh.
    var usedAtUnixSeconds: Int64?
  }

  private struct Entry {
    var grant: SimulatedGrant
    var tokens: [Int: Token] = [:]

    /// In this order: a foreign client or key learns nothing and changes nothing.
    mutating func judge(
      _ token: Token, _ presented: Presented, _ policy: RefreshPolicy
    ) throws(TokenRefusal) {
      guard grant.clientID == presented.clientID else {
        throw TokenRefusal(.refreshClient, "the refresh token is another client's")
      }
      if presented.judgesKey {
        guard grant.jkt == nil || grant.jkt == presented.jkt else {
          throw TokenRefusal(.refreshBinding, "the refresh token is bound to another key")
        }
      }
      guard grant.isAlive else { throw TokenRefusal(.grantRevoked, "the grant is revoked") }
      let now = presented.nowUnixSeconds
      if let usedAt = token.usedAtUnixSeconds, now >= usedAt + Int64(policy.overlapSeconds) {
        grant.reuseCount += 1
        grant.revocation = .reuse
        throw TokenRefusal(.refreshReused, "the refresh token was used before; its grant is revoked now")
      }
      if let lifetime = policy.lifetimeSeconds, now >= token.issuedAtUnixSeconds + Int64(lifetime) {
        throw TokenRefusal(.refreshExpired, "the refresh token is expired")
      }
      // What a login did not bind, the first refresh does.
      if presented.judgesKey, presented.isPublic { grant.jkt = grant.jkt ?? presented.jkt }
    }
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var positions: [String: (grant: Int, rotation: Int)] = [:]
    var lastGrant = 0
    var issued = 0

    /// Makes the token of the grant's present number: unguessable without the seed, the same for equal seeds.
    mutating func issue(for entry: inout Entry, _ seed: Secret, _ now: Int64) -> String {
      issued += 1
      let message = Array("refresh token \(issued)".utf8)
      let text = Base64URL.encode(message.withUnsafeBytes { HMACSHA256.authenticate($0, key: seed) })
      let rotation = entry.grant.rotation
      positions[text] = (entry.grant.id, rotation)
      entry.tokens[rotation] = Token(text: text, issuedAtUnixSeconds: now)
      if let oldest = entry.tokens.removeValue(forKey: rotation - GrantBook.tokensMax) { positions[oldest.text] = nil }
      return text
    }

    mutating func forget(_ id: Int) {
      guard let entry = entries.removeValue(forKey: id) else { return }
      for token in entry.tokens.values { positions[token.text] = nil }
    }
  }
}
