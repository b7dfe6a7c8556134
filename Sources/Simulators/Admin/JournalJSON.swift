import Cryptography
import HTTPWire

/// Journal entries as JSON.
enum JournalJSON {
  static func json(_ entry: JournalEntry) -> JSONValue {
    .object([
      ("role", .string(entry.role.rawValue)),
      ("sequence", .integer(entry.sequence)),
      ("connection", .integer(entry.connection)),
      ("received_at_ms", .integer(entry.receivedAtUnixMilliseconds)),
      ("method", .string(entry.method)),
      ("target", .string(entry.target)),
      ("fields", .array(entry.fields.map { .strings([$0.name, $0.value]) })),
      ("body", entry.body.map(body) ?? .null),
      ("proof", entry.proof.map(proof) ?? .null),
      ("token_request", entry.tokenRequest.map(tokenRequest) ?? .null),
      ("verdict", .optional(entry.verdict?.rawValue)),
      ("detail", .string(entry.detail)),
      ("status", .optional(entry.status)),
      ("faults", .strings(entry.faults)),
      ("finished", .bool(entry.isFinished)),
    ])
  }

  /// How often each thing happened.
  static func counts(_ entries: [JournalEntry], dropped: Int) -> JSONValue {
    func tally(_ keys: [String]) -> JSONValue {
      let counts = keys.reduce(into: [String: Int]()) { $0[$1, default: 0] += 1 }
      return .object(counts.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })
    }
    let roles = Role.allCases.map { role -> (String, JSONValue) in
      let own = entries.filter { $0.role == role }
      return (
        role.rawValue,
        .object([
          ("requests", .integer(own.count)),
          ("connections", .integer(Set(own.map(\.connection)).count)),
          ("verdicts", tally(own.compactMap(\.verdict?.rawValue))),
          ("statuses", tally(own.compactMap { $0.status.map(String.init) })),
          ("paths", tally(own.map(\.path))),
          ("grant_types", grantTypes(own)),
        ])
      )
    }
    return .object(roles + [("dropped", .integer(dropped))])
  }

  /// For each grant type how many requests there were, and how many got a token.
  private static func grantTypes(_ entries: [JournalEntry]) -> JSONValue {
    .object(
      GrantType.allCases.compactMap { type in
        let own = entries.filter { $0.tokenRequest?.grantType == type }
        let accepted = own.filter { $0.verdict == .accepted }.count
        if own.isEmpty { return nil }
        return (type.rawValue, .object([("requests", .integer(own.count)), ("accepted", .integer(accepted))]))
      })
  }

  private static func tokenRequest(_ record: TokenRequestRecord) -> JSONValue {
    .object([
      ("grant_type", .string(record.grantType.rawValue)), ("client_id", .string(record.clientID)),
      ("grant", .optional(record.grant)), ("rotation", .optional(record.rotation)),
    ])
  }

  private static func body(_ body: ReceivedBody) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("length", .integer(Int64(clamping: body.byteCount))), ("sha256", .string(body.hexDigest)),
    ]
    if !body.kept.isEmpty {
      if let text = String(validating: body.kept, as: UTF8.self) {
        members.append(("text", .string(text)))
      } else {
        members.append(("base64", .string(Base64.encode(body.kept))))
      }
    }
    return .object(members)
  }

  private static func proof(_ proof: DPoPProof) -> JSONValue {
    .object([
      ("jkt", .string(proof.thumbprint)),
      ("header", JSONValue(strictly: Array(proof.headerJSON.utf8)) ?? .null),
      ("claims", JSONValue(strictly: Array(proof.claimsJSON.utf8)) ?? .null),
    ])
  }
}
