import Cryptography
import HTTPWire

/// Reads a rule as the admin port takes it.
///
/// ```json
/// {"match": {"role": "api", "path": "/echo"}, "next": 2,
///  "faults": [{"fault": "delay", "at": "after", "ms": 50}, {"fault": "drop", "at": "after", "ending": "reset"}]}
/// ```
enum FaultReader {
  static let faultsMax = 16

  struct Rule: Equatable {
    var match = RequestMatch.any
    var next: Int? = 1
    var faults: [Fault]
  }

  static func rule(_ value: JSONValue) throws(AdminError) -> Rule {
    var members = try JSONMembers(value, at: "rule")
    let match = try members.take("match").map(match) ?? .any
    let next = try next(members.take("next"))
    let list = try required(members.take("faults")?.arrayValue, "rule.faults, a list,")
    try members.finish()
    guard !list.isEmpty, list.count <= faultsMax else {
      throw AdminError("rule.faults must hold 1 to \(faultsMax) faults")
    }
    var faults: [Fault] = []
    for value in list { faults.append(try fault(value)) }
    if match.waitsForJudgement, let fault = faults.first(where: { !$0.canFollowJudgement }) {
      throw AdminError("\(fault.name) can't wait for grant_type, grant or verdict; what can, happens at \"after\"")
    }
    return Rule(match: match, next: next, faults: faults)
  }

  private static func match(_ value: JSONValue) throws(AdminError) -> RequestMatch {
    var members = try JSONMembers(value, at: "match")
    var match = RequestMatch(
      try members.choice("role", as: Role.self), method: try members.text("method"),
      pathPrefix: try members.text("path"))
    match.grantType = try members.choice("grant_type", as: GrantType.self)
    match.grant = try members.integer("grant")
    match.verdict = try members.choice("verdict", as: Verdict.self)
    try members.finish()
    return match
  }

  private static func next(_ value: JSONValue?) throws(AdminError) -> Int? {
    guard let value else { return 1 }
    if value.stringValue == "always" { return nil }
    guard let count = value.int64Value, (1...1_000_000).contains(count) else {
      throw AdminError("rule.next must be \"always\" or a number from 1 to 1000000")
    }
    return Int(count)
  }

  private static func fault(_ value: JSONValue) throws(AdminError) -> Fault {
    var members = try JSONMembers(value, at: "fault")
    let name = try required(members.text("fault"), "fault.fault, the kind,")
    let fault = try fault(name, &members)
    try members.finish()
    return fault
  }

  private static func fault(_ name: String, _ members: inout JSONMembers) throws(AdminError) -> Fault {
    switch name {
    case "pass": return .pass
    case "delay": return .delay(try moment(&members), milliseconds: try required(members.integer("ms"), "fault.ms"))
    case "hold": return .hold(try moment(&members), gate: try required(members.text("gate"), "fault.gate"))
    case "drop": return .drop(try moment(&members), try ending(&members))
    case "answer": return .answer(try answer(&members))
    case "raw":
      let bytes = try required(base64("base64", &members), "fault.base64")
      return .raw(bytes, keepsOpen: try members.flag("keeps_open") ?? false)
    case "status": return .status(try status(&members))
    case "add-fields": return .addFields(try members.fields("fields"))
    case "encode":
      return .encode(try required(members.choice("encoding", as: BodyEncoding.self), "fault.encoding"))
    case "truncate": return .truncate(try truncation(&members), try ending(&members))
    case "pace":
      let bytes = try required(members.integer("bytes"), "fault.bytes")
      return .pace(Pace(bytes: bytes, pauseMilliseconds: try members.integer("ms") ?? 0))
    case "interim": return .interim(status: try interimStatus(&members), fields: try members.fields("fields"))
    case "withhold-continue": return .withholdContinue
    case "close-after-answer": return .closeAfterAnswer(try ending(&members))
    case "expire-nonces": return .expireNonces
    case "revoke-tokens": return .revokeTokens
    default: throw AdminError("there is no fault \"\(name)\"")
    }
  }

  private static func moment(_ members: inout JSONMembers) throws(AdminError) -> Fault.Moment {
    try members.choice("at", as: Fault.Moment.self) ?? .before
  }

  private static func ending(_ members: inout JSONMembers) throws(AdminError) -> Fault.Ending {
    try members.choice("ending", as: Fault.Ending.self) ?? .close
  }

  private static func status(_ members: inout JSONMembers) throws(AdminError) -> Int {
    let status = try required(members.integer("status"), "fault.status")
    guard (200...599).contains(status) else { throw AdminError("fault.status must be from 200 to 599") }
    return status
  }

  private static func interimStatus(_ members: inout JSONMembers) throws(AdminError) -> Int {
    let status = try members.integer("status") ?? 103
    guard (100...199).contains(status) else { throw AdminError("fault.status must be from 100 to 199") }
    return status
  }

  private static func answer(_ members: inout JSONMembers) throws(AdminError) -> Answer {
    let text = try members.text("body").map { Array($0.utf8) }
    let bytes = try base64("body_base64", &members)
    return Answer(
      status: try status(&members), fields: try members.fields("fields"), body: .bytes(text ?? bytes ?? []),
      encoding: try members.choice("encoding", as: BodyEncoding.self), trailers: try members.fields("trailers"),
      closes: try members.flag("closes") ?? false)
  }

  private static func truncation(_ members: inout JSONMembers) throws(AdminError) -> Fault.Truncation {
    let part = try required(members.text("part"), "fault.part")
    let bytes = try members.integer("bytes")
    switch part {
    case "head": return .head(atByte: try required(bytes, "fault.bytes"))
    case "body": return .body(atByte: UInt64(try required(bytes, "fault.bytes")))
    case "declare-more": return .declareMore(bytes: bytes ?? 1)
    case "last-chunk": return .withoutLastChunk
    default: throw AdminError("fault.part must be one of: head, body, declare-more, last-chunk")
    }
  }

  private static func base64(_ name: String, _ members: inout JSONMembers) throws(AdminError) -> [UInt8]? {
    guard let text = try members.text(name) else { return nil }
    guard let bytes = Base64.decode(text) else { throw AdminError("fault.\(name) must be padded base64") }
    return bytes
  }
}
