import HTTPWire

/// The order in which a server judges a request's proof: its form, the request it was made for, its novelty, its nonce, its
/// time. RFC 9449 §4.3
struct ProofGate: Sendable {
  let role: Role
  let state: SimulationState

  struct Refusal: Error {
    var defect: ProofDefect
    /// The proof, if it could be read.
    var proof: DPoPProof?
    /// Set if the request is challenged rather than refused.
    var challengeNonce: String?
  }

  struct Admission {
    var proof: DPoPProof
    /// `DPoP-Nonce` for the answer, if there is one. RFC 9449 §8.2
    var fields: [HTTPField]
  }

  /// - Parameter accessToken: what `ath` must be the hash of; nil at the token endpoint.
  func admit(_ head: ReceivedHead, accessToken: String?) throws(Refusal) -> Admission {
    let proof: DPoPProof
    do {
      proof = try DPoPProofVerifier.read(head)
    } catch {
      throw Refusal(defect: error)
    }
    do throws(ProofDefect) {
      let url = try RequestURL.of(head, role, state)
      let expectation = DPoPProofVerifier.Expectation(method: head.method, url: url, accessToken: accessToken)
      try DPoPProofVerifier.check(proof, against: expectation)
      // A challenged proof is spent as well: each send needs a new jti.
      guard state.replays[role]?.insert(jti: proof.jti, key: proof.thumbprint) != false else {
        throw ProofDefect(verdict: .proofReplayed, detail: "this jti was used before")
      }
    } catch {
      throw Refusal(defect: error, proof: proof)
    }
    let fields = try judgeNonce(of: proof)
    do { try judgeTime(of: proof) } catch { throw Refusal(defect: error, proof: proof) }
    return Admission(proof: proof, fields: fields)
  }

  /// The nonce comes before the time: a client whose clock is wrong is still told the nonce.
  private func judgeNonce(of proof: DPoPProof) throws(Refusal) -> [HTTPField] {
    let policy = state.serverSettings(of: role).nonce
    let judgement = state.nonces[role]?.judge(
      proof.nonce, key: proof.thumbprint, policy: policy, nowUnixSeconds: state.now(at: role))
    switch judgement {
    case .challenged(let nonce, let verdict):
      let defect = ProofDefect(verdict: verdict, detail: "the proof lacks the server's nonce")
      throw Refusal(defect: defect, proof: proof, challengeNonce: nonce)
    case .accepted(let next?): return [HTTPField(name: "DPoP-Nonce", value: next)]
    case .accepted(nil), nil: return []
    }
  }

  private func judgeTime(of proof: DPoPProof) throws(ProofDefect) {
    let settings = state.serverSettings(of: role)
    let age = state.now(at: role) - proof.issuedAtUnixSeconds
    guard age <= settings.proofAgeSecondsMax, age >= -settings.proofLeadSecondsMax else {
      throw ProofDefect(verdict: .proofTime, detail: "iat is \(age) s from this server's clock")
    }
  }

  /// The `DPoP-Nonce` fields of a challenge. RFC 9449 §8.1
  func nonceFields(_ nonce: String) -> [HTTPField] {
    let field = HTTPField(name: "DPoP-Nonce", value: nonce)
    switch state.serverSettings(of: role).nonce.challenge.nonceFields {
    case .one: return [field]
    case .none: return []
    case .two:
      let other = state.nonces[role]?.foreignNonce() ?? "other"
      return [field, HTTPField(name: "DPoP-Nonce", value: other)]
    }
  }
}
