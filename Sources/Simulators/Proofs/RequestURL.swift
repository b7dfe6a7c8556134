/// The URL of a request as the server that received it sees it. RFC 9110 §7.1
enum RequestURL {
  /// The request's URL without query.
  ///
  /// - Throws: a defect unless the target is a path and `Host`, exactly one, names this server. RFC 9112 §3.2
  static func of(_ head: ReceivedHead, _ role: Role, _ state: SimulationState) throws(ProofDefect) -> String {
    guard head.target.hasPrefix("/") else {
      throw ProofDefect(verdict: .targetWrong, detail: "the target is not a path")
    }
    let settings = state.serverSettings(of: role)
    let origin = state.origin(of: role)
    let (scheme, own) = split(origin)
    let names = [own, own.replacing("127.0.0.1:", with: "localhost:")] + settings.hosts
    let hosts = head.values(of: "host")
    guard hosts.count == 1, let host = hosts.first, names.contains(host) else {
      throw ProofDefect(verdict: .hostWrong, detail: "Host does not name this server")
    }
    if let external = settings.externalURL { return external + head.path }
    return "\(scheme)://\(host)\(head.path)"
  }

  private static func split(_ origin: String) -> (scheme: String, authority: String) {
    guard let separator = origin.firstRange(of: "://") else { return ("http", origin) }
    return (String(origin[..<separator.lowerBound]), String(origin[separator.upperBound...]))
  }
}

extension Outcome {
  /// For a request that ``RequestURL`` could not be made of. RFC 9110 §15.5.20
  static func misdirected(_ defect: ProofDefect) -> Outcome {
    Outcome(
      answer: .text(defect.verdict == .hostWrong ? 421 : 400, defect.detail), verdict: defect.verdict,
      detail: defect.detail)
  }
}
