import HTTPWire

/// The resources of the API.
struct Resource {
  static let bytesMax: UInt64 = 1 << 40
  static let slowMillisecondsMax = 600_000
  static let eventsMax = 1_000_000

  let head: ReceivedHead
  let body: ReceivedBody
  let grant: Grant
  let access: APIAccess

  func outcome() -> Outcome {
    let segments = head.path.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst()
    let rest = segments.dropFirst().first.map(String.init)
    switch segments.first {
    case "echo": return accepted(.json(200, echo))
    case "upload": return accepted(.json(200, digest))
    case "bytes":
      guard let count = rest.flatMap({ UInt64($0) }), count <= Self.bytesMax else { break }
      return accepted(bytes(count))
    case "slow":
      guard let wait = number("ms", default: 1000, max: Self.slowMillisecondsMax) else { break }
      return accepted(.json(200, echo).delayed(milliseconds: wait))
    case "status":
      guard let status = rest.flatMap({ Int($0) }), (200...599).contains(status) else { break }
      return accepted(self.status(status))
    case "stream":
      guard let count = number("events", default: 3, max: Self.eventsMax),
        let pause = number("ms", default: 100, max: Self.slowMillisecondsMax)
      else { break }
      return accepted(events(count, pause))
    case "scope":
      guard let scope = rest else { break }
      return scoped(scope)
    default: break
    }
    return Outcome(answer: .text(404, "Nothing is here."), verdict: .notFound)
  }

  private func accepted(_ answer: Answer) -> Outcome { Outcome(answer: answer, verdict: .accepted) }

  /// A query parameter that is a number in 0...max; `standard` if it is absent.
  private func number(_ name: String, default standard: Int, max: Int) -> Int? {
    guard let text = head.parameter(name) else { return standard }
    return Int(text).flatMap { (0...max).contains($0) ? $0 : nil }
  }

  private func bytes(_ count: UInt64) -> Answer {
    let encoding = head.parameter("encoding").flatMap { BodyEncoding(rawValue: $0) }
    return Answer(
      status: 200, fields: [HTTPField(name: "Content-Type", value: "application/octet-stream")],
      body: .pattern(count), encoding: encoding)
  }

  private func events(_ count: Int, _ pauseMilliseconds: Int) -> Answer {
    Answer(
      status: 200,
      fields: [
        HTTPField(name: "Content-Type", value: "text/event-stream"),
        HTTPField(name: "Cache-Control", value: "no-store"),
      ], body: .events(count: count, pauseMilliseconds: pauseMilliseconds))
  }

  private func status(_ status: Int) -> Answer {
    let location = head.parameter("location").map { [HTTPField(name: "Location", value: $0)] } ?? []
    return .text(status, "Status \(status), as asked for.", fields: location)
  }

  /// RFC 6750 §3.1
  private func scoped(_ scope: String) -> Outcome {
    let held = (grant.scope ?? "").split(separator: " ")
    if held.contains(Substring(scope)) { return accepted(.json(200, echo)) }
    let challenge =
      grant.scheme == "DPoP"
      ? #"DPoP error="insufficient_scope", scope="\#(scope)", algs="ES256""#
      : #"Bearer error="insufficient_scope", scope="\#(scope)""#
    return Outcome(
      answer: .text(403, "The scope \(scope) is needed.", fields: [Challenges.field(challenge)]), verdict: .scopeMissing
    )
  }

  private var digest: JSONValue {
    .object([("body_length", .integer(Int64(clamping: body.byteCount))), ("body_sha256", .string(body.hexDigest))])
  }

  /// What arrived, without anything that is of use to a thief: names of fields, not values.
  private var echo: JSONValue {
    .object([
      ("method", .string(head.method)),
      ("target", .string(shownTarget)),
      ("http_version", .string("1.\(head.minorVersion)")),
      ("headers", .array(head.fields.map { .string($0.name) })),
      ("auth_scheme", grant.scheme.map { .string($0) } ?? .null),
      ("jkt", grant.proof.map { .string($0.thumbprint) } ?? .null),
      ("proof", grant.proof.flatMap { JSONValue(strictly: Array($0.claimsJSON.utf8)) } ?? .null),
      ("body_length", .integer(Int64(clamping: body.byteCount))),
      ("body_sha256", .string(body.hexDigest)),
    ])
  }

  /// The target, without the key if that is where the API wants it.
  private var shownTarget: String {
    guard case .query(let name, _) = access, let query = head.query else { return head.target }
    let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map { pair -> String in
      let spelling = pair.prefix { $0 != "=" }
      return FormText.decode(spelling) == name ? "\(spelling)=[hidden]" : String(pair)
    }
    return "\(head.path)?\(pairs.joined(separator: "&"))"
  }
}

extension ReceivedBody {
  /// Lower-case hexadecimal, as `sha256sum` prints it.
  package var hexDigest: String {
    digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }
}

extension Answer {
  fileprivate func delayed(milliseconds: Int) -> Answer {
    var answer = self
    answer.delayMilliseconds = milliseconds
    return answer
  }
}
