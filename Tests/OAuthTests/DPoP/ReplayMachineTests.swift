import OAuth
import Testing

/// An answer of a resource server, as the machine sees it, with all that a replay needs.
private func answer(
  _ status: UInt16, _ challenge: ChallengeVerdict, nonce: NonceReceipt.Offer = .none, replaced: Bool = false,
  body: Bool = false, proof: Bool = true, replayable: Bool = true, old: Bool = false
) -> ResponseSignal {
  ResponseSignal(
    status: status, challenge: challenge, nonceOffer: nonce, nonceReplacedByAnotherExchange: replaced,
    bodyDemandsNonce: body, proofWasSent: proof, bodyIsReplayable: replayable, tokenIsOld: old)
}

private let nonceChallenge = answer(401, .useDPoPNonce, nonce: .new)
private let racedNonceChallenge = answer(401, .useDPoPNonce, nonce: .new, replaced: true)
private let invalidToken = answer(401, .invalidToken)

/// Plays a script of answers and writes down the sends: S, then N or R for each replay.
private func sends(_ script: [ResponseSignal]) -> String {
  var machine = ReplayMachine()
  var sends = "S"
  for signal in script {
    switch machine.judge(signal) {
    case .deliver: return sends
    case .replayWithNonce: sends += "N"
    case .refreshThenReplay: sends += "R"
    }
    #expect(machine.sendCount == sends.count)
  }
  return sends
}

private func lastAction(_ script: [ResponseSignal]) -> ReplayAction {
  var machine = ReplayMachine()
  var action = ReplayAction.deliver(.final)
  for signal in script { action = machine.judge(signal) }
  return action
}

struct ReplayMachineTests {
  static let allowed: Set<String> = ["S", "SN", "SR", "SNR", "SRN", "SNRN", "SNN"]

  @Test(arguments: [
    ([], "S"),
    ([nonceChallenge], "SN"),
    ([invalidToken], "SR"),
    ([nonceChallenge, invalidToken], "SNR"),
    ([invalidToken, nonceChallenge], "SRN"),
    ([nonceChallenge, invalidToken, nonceChallenge], "SNRN"),
    ([nonceChallenge, racedNonceChallenge], "SNN"),
  ])
  func `every allowed sequence of sends happens`(script: [ResponseSignal], expected: String) {
    #expect(sends(script) == expected)
    #expect(sends(script + [answer(200, .bare)]) == expected)
  }

  @Test func `no script of answers makes another sequence of sends`() {
    let alphabet = [
      answer(200, .bare), answer(503, .bare), answer(403, .insufficientScope), answer(401, .otherError),
      nonceChallenge, racedNonceChallenge, answer(401, .useDPoPNonce, nonce: .sameAsSent, replaced: true),
      answer(401, .useDPoPNonce), answer(400, .useDPoPNonce, nonce: .new, replaced: true), invalidToken,
      answer(401, .bare, old: true), answer(401, .bare), answer(401, .bare, nonce: .new, replaced: true, body: true),
    ]
    var seen: Set<String> = []
    func walk(_ machine: ReplayMachine, _ sends: String, depth: Int) {
      seen.insert(sends)
      guard depth < 6 else { return }
      for signal in alphabet {
        var machine = machine
        switch machine.judge(signal) {
        case .deliver: continue
        case .replayWithNonce:
          if sends.hasSuffix("N") { #expect(sends == "SN" && signal.nonceReplacedByAnotherExchange) }
          walk(machine, sends + "N", depth: depth + 1)
        case .refreshThenReplay: walk(machine, sends + "R", depth: depth + 1)
        }
      }
    }
    walk(ReplayMachine(), "S", depth: 0)
    #expect(seen == Self.allowed)
    #expect(seen.map(\.count).max() == ReplayMachine.sendsMax)
  }

  @Test func `each answer in each state is judged as the rules say`() {
    let states: [(script: [ResponseSignal], sends: String)] = [
      ([], "S"), ([nonceChallenge], "SN"), ([invalidToken], "SR"), ([nonceChallenge, invalidToken], "SNR"),
      ([invalidToken, nonceChallenge], "SRN"), ([nonceChallenge, invalidToken, nonceChallenge], "SNRN"),
      ([nonceChallenge, racedNonceChallenge], "SNN"),
    ]
    let booleans = [false, true]
    for (script, sends) in states {
      var machine = ReplayMachine()
      for signal in script { _ = machine.judge(signal) }
      for status in [UInt16(200), 302, 400, 401, 403, 500, 503] {
        for challenge in [
          ChallengeVerdict.bare, .useDPoPNonce, .invalidToken, .insufficientScope, .insufficientUserAuthentication,
          .otherError,
        ] {
          for offer in [NonceReceipt.Offer.none, .sameAsSent, .new] {
            for bits in 0..<32 {
              let bit = { (n: Int) in booleans[bits >> n & 1] }
              let signal = answer(
                status, challenge, nonce: offer, replaced: bit(0), body: bit(1), proof: bit(2), replayable: bit(3),
                old: bit(4))
              var copy = machine
              let next =
                switch copy.judge(signal) {
                case .deliver: sends
                case .replayWithNonce: sends + "N"
                case .refreshThenReplay: sends + "R"
                }
              #expect(next == expected(after: sends, signal), "\(sends): \(signal)")
            }
          }
        }
      }
    }
  }

  /// The rules once more, as the table of RFC sections has them and in no way as the machine does.
  private func expected(after sends: String, _ signal: ResponseSignal) -> String {
    guard signal.bodyIsReplayable, signal.status == 400 || signal.status == 401 else { return sends }
    let named = signal.challenge == .useDPoPNonce || (signal.challenge == .bare && signal.bodyDemandsNonce)
    if signal.proofWasSent, named, signal.nonceOffer != .none || signal.challenge == .useDPoPNonce {
      let next = sends + "N"
      guard signal.nonceOffer == .new, Self.allowed.contains(next) else { return sends }
      return next == "SNN" && !signal.nonceReplacedByAnotherExchange ? sends : next
    }
    let refused = signal.challenge == .invalidToken || (signal.challenge == .bare && signal.tokenIsOld)
    return signal.status == 401 && refused && Self.allowed.contains(sends + "R") ? sends + "R" : sends
  }

  @Test func `C11 a challenge without a nonce is delivered`() {
    #expect(lastAction([answer(401, .useDPoPNonce)]) == .deliver(.nonceMissing))
  }

  @Test func `the nonce that was sent is no reason to send again`() {
    #expect(lastAction([answer(401, .useDPoPNonce, nonce: .sameAsSent)]) == .deliver(.nonceMissing))
  }

  @Test func `C12 a server that challenges forever is asked twice`() {
    #expect(sends(Array(repeating: nonceChallenge, count: 6)) == "SN")
    #expect(lastAction([nonceChallenge, nonceChallenge]) == .deliver(.nonceRefused))
  }

  @Test(arguments: [UInt16(400), 401])
  func `C14 C15 a nonce challenge counts with 400 and with 401`(status: UInt16) {
    #expect(lastAction([answer(status, .useDPoPNonce, nonce: .new)]) == .replayWithNonce)
  }

  @Test(arguments: [UInt16(400), 401])
  func `C16 a challenge in the body alone counts beside a nonce`(status: UInt16) {
    let machine = ReplayMachine()
    #expect(machine.needsBody(answer(status, .bare, nonce: .new)))
    #expect(lastAction([answer(status, .bare, nonce: .new, body: true)]) == .replayWithNonce)
    #expect(!machine.needsBody(answer(status, .bare)))
    #expect(lastAction([answer(status, .bare, body: true)]) == .deliver(.final))
  }

  @Test func `a body is looked at only where it can change the outcome`() {
    let machine = ReplayMachine()
    #expect(!machine.needsBody(nonceChallenge))
    #expect(!machine.needsBody(answer(401, .invalidToken, nonce: .new)))
    #expect(!machine.needsBody(answer(403, .bare, nonce: .new)))
    #expect(!machine.needsBody(answer(200, .bare, nonce: .new)))
    #expect(!machine.needsBody(answer(401, .bare, nonce: .sameAsSent)))
    #expect(!machine.needsBody(answer(401, .bare, nonce: .new, proof: false)))
    #expect(!machine.needsBody(answer(401, .bare, nonce: .new, replayable: false)))
    var challenged = machine
    _ = challenged.judge(nonceChallenge)
    #expect(!challenged.needsBody(answer(401, .bare, nonce: .new)))
  }

  @Test func `C20 invalid_dpop_proof alone is not sent again`() {
    #expect(lastAction([answer(401, .otherError, nonce: .new, old: true)]) == .deliver(.final))
  }

  @Test(arguments: [ChallengeVerdict.insufficientScope, .insufficientUserAuthentication])
  func `C70 a demand for more rights is delivered`(verdict: ChallengeVerdict) {
    for status in [UInt16(401), 403] {
      #expect(lastAction([answer(status, verdict, nonce: .new, old: true)]) == .deliver(.final))
    }
  }

  @Test(arguments: [ChallengeVerdict.bare, .invalidToken, .useDPoPNonce])
  func `a 403 is always delivered`(verdict: ChallengeVerdict) {
    #expect(lastAction([answer(403, verdict, nonce: .new, old: true)]) == .deliver(.final))
  }

  @Test func `a 401 without a reason costs a refresh only if the token is a minute old`() {
    #expect(lastAction([answer(401, .bare)]) == .deliver(.final))
    #expect(lastAction([answer(401, .bare, old: true)]) == .refreshThenReplay)
    #expect(lastAction([answer(401, .bare, proof: false, old: true)]) == .refreshThenReplay)
  }

  @Test func `a bearer token is replaced but never sent again for a nonce`() {
    #expect(lastAction([answer(401, .invalidToken, proof: false)]) == .refreshThenReplay)
    #expect(lastAction([answer(401, .useDPoPNonce, nonce: .new, proof: false)]) == .deliver(.final))
  }

  @Test func `a body that is gone is told apart from an answer that needs no replay`() {
    #expect(
      lastAction([answer(401, .useDPoPNonce, nonce: .new, replayable: false)]) == .deliver(.nonceNotReplayable))
    #expect(lastAction([answer(401, .invalidToken, replayable: false)]) == .deliver(.tokenNotReplayable))
  }

  @Test func `the refusal of a fresh token is reported whatever its age`() {
    #expect(lastAction([invalidToken, invalidToken]) == .deliver(.freshTokenRefused))
    #expect(lastAction([answer(401, .bare, old: true), answer(401, .bare)]) == .deliver(.freshTokenRefused))
    #expect(lastAction([nonceChallenge, invalidToken, nonceChallenge, invalidToken]) == .deliver(.freshTokenRefused))
  }
}
