import Cryptography
import HTTPWire

/// Grants as the admin port begins and shows them.
enum GrantJSON {
  /// How many a request may begin.
  static let seedsMax = 10_000

  /// ```json
  /// {"client_id": "svc", "subject": "user-7", "key": true, "count": 3}
  /// ```
  /// - Returns: the seed, and how many grants; nil is one, which is then answered alone.
  static func seed(_ value: JSONValue) throws(AdminError) -> (GrantSeed, count: Int?) {
    var members = try JSONMembers(value, at: "grant")
    var seed = GrantSeed(clientID: try members.text("client_id"))
    seed.subject = try members.text("subject") ?? seed.subject
    seed.scope = try members.text("scope") ?? seed.scope
    if let audiences = members.take("audiences") {
      seed.audiences = try required(audiences.stringArrayValue, "grant.audiences, a list of strings,")
    }
    seed.jkt = try members.text("jkt")
    seed.makesKey = try members.flag("key") ?? false
    seed.profile.name = try members.text("name") ?? seed.profile.name
    seed.profile.email = try members.text("email") ?? seed.profile.email
    seed.profile.picture = try members.text("picture") ?? seed.profile.picture
    seed.sessionExpiryUnixSeconds = try members.moment("session_expiry")
    let count = try members.integer("count")
    try members.finish()
    guard !seed.makesKey || seed.jkt == nil else { throw AdminError("grant.jkt and grant.key exclude each other") }
    guard (0...seedsMax).contains(count ?? 1) else { throw AdminError("grant.count must be at most \(seedsMax)") }
    return (seed, count)
  }

  static func json(_ seeded: SeededGrant) throws(AdminError) -> JSONValue {
    var members: [(String, JSONValue)] = [
      ("grant", .integer(seeded.grant.id)), ("client_id", .string(seeded.grant.clientID)),
      ("refresh_token", .string(seeded.refreshToken)), ("id_token", .optional(seeded.idToken)),
      ("jkt", .optional(seeded.grant.jkt)),
    ]
    if let key = seeded.key { members.append(("private_key", .string(try pem(key)))) }
    return .object(members)
  }

  static func json(_ grant: SimulatedGrant) -> JSONValue {
    .object([
      ("grant", .integer(grant.id)), ("client_id", .string(grant.clientID)), ("subject", .string(grant.subject)),
      ("scope", .optional(grant.scope)), ("audiences", .strings(grant.audiences)), ("jkt", .optional(grant.jkt)),
      ("alive", .bool(grant.isAlive)), ("revoked_by", .optional(grant.revocation?.rawValue)),
      ("rotation", .integer(grant.rotation)), ("refreshes", .integer(grant.refreshCount)),
      ("reuses", .integer(grant.reuseCount)),
    ])
  }

  /// PKCS #8 in PEM. RFC 7468 §10
  private static func pem(_ key: ProofKey) throws(AdminError) -> String {
    let der: Secret
    do { der = try key.exportPrivate() } catch { throw AdminError(status: 500, "the key can't be written: \(error)") }
    let text = der.withUnsafeBytes { Array(Base64.encode($0).utf8) }
    let lines = stride(from: 0, to: text.count, by: 64).map {
      String(decoding: text[$0..<min($0 + 64, text.count)], as: UTF8.self)
    }
    return (["-----BEGIN PRIVATE KEY-----"] + lines + ["-----END PRIVATE KEY-----", ""]).joined(separator: "\n")
  }
}
