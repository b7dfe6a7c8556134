import HTTPWire
import Testing

@testable import Simulators

/// Which sends an exchange may consist of: S, the first; N, again with a nonce; R, again with another token. Through sockets,
/// for every sequence of answers. RFC 9449 §8, §9, RFC 6750 §3.1
@Suite(.timeLimit(.minutes(5))) struct SendSequenceTests {
  /// One answer of the API.
  enum Reply: String, Sendable, CaseIterable {
    case ok = "200"
    case newNonce = "new nonce"
    case sameNonce = "same nonce"
    case invalidToken = "invalid_token"
    case bare = "bare 401"
    case forbidden = "403"
    case newNonceAs400 = "400 nonce"
    case failure = "500"

    var status: Int {
      switch self {
      case .ok: 200
      case .newNonce, .sameNonce, .invalidToken, .bare: 401
      case .forbidden: 403
      case .newNonceAs400: 400
      case .failure: 500
      }
    }

    /// - Parameters:
    ///   - scheme: of the token that is refused.
    ///   - same: the nonce the client holds.
    ///   - new: one it never saw.
    func answer(scheme: String = "DPoP", same: String, new: String) -> Answer {
      func challenge(_ value: String, _ nonce: String?) -> [HTTPField] {
        [HTTPField(name: "WWW-Authenticate", value: value)]
          + (nonce.map { [HTTPField(name: "DPoP-Nonce", value: $0)] } ?? [])
      }
      let fields =
        switch self {
        case .ok, .bare, .failure: [HTTPField]()
        case .newNonce, .newNonceAs400: challenge(#"DPoP error="use_dpop_nonce""#, new)
        case .sameNonce: challenge(#"DPoP error="use_dpop_nonce""#, same)
        case .invalidToken: challenge("\(scheme) error=\"invalid_token\"", nil)
        case .forbidden: challenge("\(scheme) error=\"insufficient_scope\"", nil)
        }
      return .text(status, rawValue, fields: fields)
    }
  }

  static let allowed: Set<String> = ["S", "SN", "SR", "SNR", "SRN", "SNRN"]

  /// The sends after `sends` when the last of them is answered so; nil if the answer is handed on.
  static func next(_ sends: String, _ reply: Reply, isBound: Bool) -> String? {
    let leg: String? =
      switch reply {
      case .newNonce, .newNonceAs400: isBound ? "N" : nil
      case .invalidToken: "R"
      default: nil
      }
    return leg.map { sends + $0 }.flatMap { allowed.contains($0) ? $0 : nil }
  }

  /// Every sequence of up to five answers, cut behind the one that is handed on: what would follow is never asked for.
  static func scripts(isBound: Bool) -> [(replies: [Reply], sends: String)] {
    var complete: [(replies: [Reply], sends: String)] = []
    var open: [(replies: [Reply], sends: String)] = [([], "S")]
    while let script = open.popLast() {
      for reply in Reply.allCases {
        let replies = script.replies + [reply]
        if let sends = next(script.sends, reply, isBound: isBound), replies.count < 5 {
          open.append((replies, sends))
        } else {
          complete.append((replies, script.sends))
        }
      }
    }
    return complete
  }

  @Test func `the scripts reach every allowed sequence and end within five answers`() {
    let scripts = Self.scripts(isBound: true)
    #expect(Set(scripts.map(\.sends)) == Self.allowed)
    #expect(scripts.allSatisfy { $0.replies.count == $0.sends.count && $0.replies.count <= 4 })
    #expect(scripts.count == 85)
  }

  @Test(arguments: [("GET", nil), ("POST", Array("a body that is sent again".utf8))])
  func `S SN SR SNR SRN SNRN and no others, whatever the API answers`(method: String, body: [UInt8]?) async throws {
    try await run(Self.scripts(isBound: true), .dpop(), method: method, body: body)
  }

  @Test func `S SR and no others with a bearer token`() async throws {
    try await run(Self.scripts(isBound: false), .bearer(), method: "GET", body: nil)
  }

  /// Plays each script on a route and a credential of its own: a refused token has consequences for half a minute.
  private func run(
    _ scripts: [(replies: [Reply], sends: String)], _ setup: Setup, method: String, body: [UInt8]?
  ) async throws {
    var setup = setup
    let isBound = setup.simulation.settings.api.access == .dpop
    setup.credentials = scripts.indices.map { Setup.machine("dpop: \(isBound)", name: "c\($0)") }.joined(
      separator: "\n")
    setup.routes = scripts.indices.map { "r\($0): {path: /r\($0), upstream: \"$API/echo/\($0)\", credential: c\($0)}" }
      .joined(separator: "\n")
    try await Scene.play(setup) { scene async throws in
      let client = try scene.connect()
      for (index, script) in scripts.enumerated() {
        let comment = Comment(rawValue: script.replies.map(\.rawValue).joined(separator: ", "))
        let primer = Answer.text(200, "ok", fields: [HTTPField(name: "DPoP-Nonce", value: "n\(index)-0")])
        scene.simulation.faults.add(.answer(primer), on: .api("/echo/\(index)/"))
        _ = try await client.call("GET", "/r\(index)/prime")
        var nonce = "n\(index)-0"
        for (position, reply) in script.replies.enumerated() {
          let new = "n\(index)-\(position + 1)"
          let answer = reply.answer(scheme: isBound ? "DPoP" : "Bearer", same: nonce, new: new)
          scene.simulation.faults.add(.answer(answer), on: .api("/echo/\(index)/"))
          if reply == .newNonce || reply == .newNonceAs400 { nonce = new }
        }
        let answer = try await client.call(method, "/r\(index)/x", body: body)
        let last = try #require(script.replies.last)
        #expect(answer.status == last.status, comment)
        #expect(answer.text == last.rawValue + "\n", comment)
        let entries = scene.simulation.journal.entries(role: .api, path: "/echo/\(index)/x")
        #expect(try Self.legs(of: entries, isBound: isBound) == script.sends, comment)
        #expect(entries.allSatisfy { $0.method == method && $0.body?.kept == (body ?? []) }, comment)
        if isBound { #expect(Set(try entries.map { try SentProof($0).jti }).count == entries.count, comment) }
      }
    }
  }

  /// What the requests of one exchange are: R has another token than the one before, N another nonce.
  private static func legs(of entries: [JournalEntry], isBound: Bool) throws -> String {
    var legs = "S"
    for (before, entry) in zip(entries, entries.dropFirst()) {
      if entry.token != before.token {
        legs += "R"
      } else if isBound, try SentProof(entry).nonce != SentProof(before).nonce {
        legs += "N"
      } else {
        legs += "?"
      }
    }
    return entries.isEmpty ? "" : legs
  }

  @Test(arguments: [false, true])
  func `SNN only when another exchange replaced the nonce after the replay was signed`(replaced: Bool) async throws {
    try await Scene.play(.dpop()) { scene async throws in
      func challenge(_ nonce: String) -> Fault { .answer(Reply.newNonce.answer(same: "", new: nonce)) }
      let faults = scene.simulation.faults
      faults.add(challenge("n1"), on: .api("/echo/a"))
      faults.add(.hold(.before, gate: "replay"), challenge("n3"), on: .api("/echo/a"))
      faults.add(challenge("n4"), on: .api("/echo/a"))
      let next = Answer.text(200, "ok", fields: [HTTPField(name: "DPoP-Nonce", value: "n2")])
      faults.add(.answer(next), on: .api("/echo/b"))

      async let answer = scene.call("GET", "/api/echo/a")
      let isHeld = await scene.simulation.journal.wait { entries in entries.count { $0.path == "/echo/a" } == 2 }
      #expect(isHeld)
      if replaced { #expect(try await scene.call("GET", "/api/echo/b").status == 200) }
      faults.gates.open("replay")
      #expect(try await answer.status == 401)
      let nonces = try scene.arrived.filter { $0.path == "/echo/a" }.map { try SentProof($0).nonce }
      #expect(nonces == (replaced ? [nil, "n1", "n3"] : [nil, "n1"]))
    }
  }
}
