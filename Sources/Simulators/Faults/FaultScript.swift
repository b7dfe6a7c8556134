import Locking

/// Which requests a rule is for; what is nil does not matter.
package struct RequestMatch: Sendable, Equatable {
  package var role: Role?
  package var method: String?
  package var pathPrefix: String?
  package var grantType: GrantType?
  /// The grant whose refresh token is presented.
  package var grant: Int?
  package var verdict: Verdict?

  package init(_ role: Role? = nil, method: String? = nil, pathPrefix: String? = nil) {
    self.role = role
    self.method = method
    self.pathPrefix = pathPrefix
  }

  /// Whether only a judged request tells if it matches.
  package var waitsForJudgement: Bool { grantType != nil || grant != nil || verdict != nil }

  package static let any = RequestMatch()
  package static func api(_ pathPrefix: String? = nil) -> RequestMatch { RequestMatch(.api, pathPrefix: pathPrefix) }
  package static let token = RequestMatch(.authorizationServer, pathPrefix: "/token")

  /// Refreshes the server has made: their token is used, their answer is not written yet.
  ///
  /// - Parameter grant: nil is any.
  package static func refreshed(_ grant: Int? = nil) -> RequestMatch {
    var match = RequestMatch.token
    match.grantType = .refreshToken
    match.grant = grant
    match.verdict = .accepted
    return match
  }

  func matches(_ head: ReceivedHead, at role: Role) -> Bool {
    (self.role == nil || self.role == role) && (method == nil || method == head.method)
      && (pathPrefix.map { head.path.hasPrefix($0) } ?? true)
  }

  func matches(_ outcome: Outcome) -> Bool {
    (verdict == nil || verdict == outcome.verdict)
      && (grantType == nil || grantType == outcome.tokenRequest?.grantType)
      && (grant == nil || grant == outcome.tokenRequest?.grant)
  }
}

/// Faults for some requests.
package struct FaultRule: Sendable, Equatable {
  /// Counted from 1 in order of registration.
  package internal(set) var number: Int
  package let match: RequestMatch
  /// All of these happen to a request that the rule takes.
  package let faults: [Fault]
  /// How many requests more; nil is for ever.
  package internal(set) var remaining: Int?
}

/// The rules in order of registration: a request is taken by the first rule that matches and is not used up, and by that
/// rule alone. A rule that wants to know the judgement is for requests that no other rule took.
///
/// ```swift
/// script.add(.pass, next: 2, on: .api())                 // the third request
/// script.add(.drop(.after, .reset), next: 1, on: .api()) // gets no answer
/// ```
package final class FaultScript: Sendable {
  static let rulesMax = 1_000

  private struct State {
    var rules: [FaultRule] = []
    var lastNumber = 0
  }

  package let gates = Gates()
  private let state = Protected(State())

  package var rules: [FaultRule] { state.withLock(\.rules) }

  /// - Parameter next: how many requests the rule takes; nil is for ever.
  /// - Returns: the rule's number.
  @discardableResult
  package func add(_ faults: Fault..., next: Int? = 1, on match: RequestMatch = .any) -> Int {
    add(faults, next: next, on: match)
  }

  @discardableResult
  package func add(_ faults: [Fault], next: Int? = 1, on match: RequestMatch = .any) -> Int {
    state.withLock { state in
      precondition(state.rules.count < Self.rulesMax, "a script of so many rules is a mistake")
      precondition(
        !match.waitsForJudgement || faults.allSatisfy(\.canFollowJudgement), "this can't happen after the judgement")
      state.lastNumber += 1
      state.rules.append(FaultRule(number: state.lastNumber, match: match, faults: faults, remaining: next))
      return state.lastNumber
    }
  }

  package func remove(_ number: Int) { state.withLock { $0.rules.removeAll { $0.number == number } } }

  /// Forgets every rule and opens every gate, so that nothing waits for ever.
  package func removeAll() {
    state.withLock { $0.rules = [] }
    gates.openAll()
  }

  /// What happens to this request; used-up rules disappear.
  ///
  /// - Parameter outcome: nil while the request is not judged.
  func take(_ head: ReceivedHead, at role: Role, _ outcome: Outcome? = nil) -> [Fault] {
    state.withLock { state in
      let index = state.rules.firstIndex {
        guard $0.match.matches(head, at: role), $0.match.waitsForJudgement == (outcome != nil) else { return false }
        return outcome.map($0.match.matches) ?? true
      }
      guard let index else { return [] }
      let faults = state.rules[index].faults
      if let remaining = state.rules[index].remaining {
        state.rules[index].remaining = remaining - 1
        if remaining <= 1 { state.rules.remove(at: index) }
      }
      return faults
    }
  }
}
