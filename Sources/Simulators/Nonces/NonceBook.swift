import Cryptography
import Locking

/// The nonces one server has given out, and its judgement of those that come back.
final class NonceBook: Sendable {
  /// Keys with nonces of their own are forgotten, all at once, above this number.
  static let keysMax = 1024
  static let remembered = 256

  /// What becomes of a request because of its nonce, and what the answer says.
  enum Judgement: Equatable {
    /// Go on; `next`, if any, belongs into the answer.
    case accepted(next: String?)
    /// Challenge with this nonce.
    case challenged(with: String, defect: Verdict)
  }

  fileprivate struct Nonce {
    var value: String
    var issuedAtUnixSeconds: Int64
  }

  fileprivate struct State {
    /// Newest last.
    var given: [String: [Nonce]] = [:]
    var count = 0
  }

  private let role: Role
  private let seed: Secret
  private let state = Protected(State())

  init(role: Role, seed: Secret) {
    self.role = role
    self.seed = seed
  }

  /// Judges the nonce of an otherwise good proof.
  ///
  /// - Parameter key: the thumbprint of the proof's key.
  func judge(_ nonce: String?, key: String, policy: NoncePolicy, nowUnixSeconds now: Int64) -> Judgement {
    if policy.mode == .off { return .accepted(next: nil) }
    return state.withLock { state in
      let owner = policy.isPerKey ? key : ""
      var given = state.given[owner] ?? []
      defer { state.store(Array(given.suffix(Self.remembered)), for: owner) }
      // Positions of the nonces that are good: the newest, and as many before it as the policy accepts.
      let current = currentNonce(&given, &state.count, policy, now)
      let good = given.suffix(1 + policy.previousAccepted).filter { !$0.isExpired(policy, now) }.map(\.value)
      let defect: Verdict = nonce == nil ? .nonceMissing : .nonceUnknown
      switch policy.mode {
      case .off: return .accepted(next: nil)
      case .alwaysChallenge:
        return .challenged(with: next(&given, &state.count, now), defect: defect)
      case .sameNonce: return .challenged(with: current, defect: defect)
      case .offered where nonce == nil: return .accepted(next: current)
      case .once, .rotate, .offered:
        guard let nonce, good.contains(nonce) else { return .challenged(with: current, defect: defect) }
        if policy.mode == .once { return .accepted(next: nil) }
        if policy.mode == .rotate, nonce == current { return .accepted(next: next(&given, &state.count, now)) }
        return .accepted(next: current)
      }
    }
  }

  /// Makes every nonce given so far wrong.
  func expireAll() { state.withLock { $0.given = [:] } }

  /// A nonce of the right form that this server never gave.
  func foreignNonce() -> String { state.withLock { text(counter: &$0.count) } }

  private func currentNonce(
    _ given: inout [Nonce], _ count: inout Int, _ policy: NoncePolicy, _ now: Int64
  ) -> String {
    if let newest = given.last, !newest.isExpired(policy, now) { return newest.value }
    return next(&given, &count, now)
  }

  private func next(_ given: inout [Nonce], _ count: inout Int, _ now: Int64) -> String {
    let nonce = Nonce(value: text(counter: &count), issuedAtUnixSeconds: now)
    given.append(nonce)
    return nonce.value
  }

  /// Different for each role, so that a client that mixes them up is found out; the same for equal seeds.
  private func text(counter: inout Int) -> String {
    counter += 1
    let message = Array("nonce \(role.rawValue) \(counter)".utf8)
    let code = message.withUnsafeBytes { HMACSHA256.authenticate($0, key: seed) }
    return Base64URL.encode(code.prefix(16))
  }
}

extension NonceBook.Nonce {
  fileprivate func isExpired(_ policy: NoncePolicy, _ now: Int64) -> Bool {
    policy.lifetimeSeconds.map { now >= issuedAtUnixSeconds + Int64($0) } ?? false
  }
}

extension NonceBook.State {
  fileprivate mutating func store(_ nonces: [NonceBook.Nonce], for owner: String) {
    if given[owner] == nil, given.count >= NonceBook.keysMax { given = [:] }
    given[owner] = nonces
  }
}
