import Cryptography
import HTTPWire

/// A grant as a file or a person gave it, on its way to the admin API.
struct GrantToImport {
  /// More is no grant.
  static let bytesMax = 256 << 10

  var refreshToken: Secret
  var idToken: Secret?
  var proofKey: Secret?
  /// Words with spaces between.
  var scope: String?
  var clientID: String?
  var issuer: String?

  init(refreshToken: Secret) { self.refreshToken = refreshToken }

  /// One line that is the refresh token, or a JSON object: `refresh_token`, and what there is of `id_token`, `proof_key` or
  /// `dpop_key` (PEM, or a JWK as text or object), `scope`, `client_id`, `issuer`. The other members a token response has
  /// are passed over. RFC 6749 §5.1
  init(text: Secret) throws(CommandFailure) {
    let text = Self.trimmed(text.revealedString())
    guard text.hasPrefix("{") else {
      guard !text.isEmpty, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw .usage("what came is neither one line with a refresh token nor a JSON object")
      }
      self.init(refreshToken: Secret(utf8: text))
      return
    }
    let members = try ImportedMembers(text, what: "what came")
    // What else a token response has is passed over. RFC 6749 §5.1
    self.init(refreshToken: try members.requiredSecret("refresh_token"))
    idToken = try members.text("id_token").map { Secret(utf8: $0) }
    proofKey = try members.key("proof_key")
    if proofKey == nil { proofKey = try members.key("dpop_key") }
    scope = try members.words("scope")
    clientID = try members.text("client_id")
    issuer = try members.text("issuer")
  }

  /// What `oidc-gen --print NAME` of oidc-agent prints: a JSON object with `refresh_token`, `issuer_url` (or `issuer`),
  /// `client_id` and `scope`, where an empty text is what is not known and the scope `max` means all there are. Everything
  /// else in it, the client secret too, is passed over.
  init(oidcAgent text: Secret) throws(CommandFailure) {
    let members = try ImportedMembers(Self.trimmed(text.revealedString()), what: "the account configuration")
    self.init(refreshToken: try members.requiredSecret("refresh_token"))
    issuer = try members.text("issuer_url")
    if issuer == nil { issuer = try members.text("issuer") }
    clientID = try members.text("client_id")
    scope = try members.words("scope")
    if scope == "max" { scope = nil }
  }

  /// The request that stores it.
  func content(tags: [String], replaces: Bool, isOffline: Bool) -> JSONValue {
    var members: [(String, JSONValue)] = [("refresh_token", .string(refreshToken.revealedString()))]
    let texts = [
      ("id_token", idToken?.revealedString()), ("proof_key", proofKey?.revealedString()), ("scope", scope),
      ("client_id", clientID), ("issuer", issuer),
    ]
    for (name, text) in texts { if let text { members.append((name, .string(text))) } }
    if !tags.isEmpty { members.append(("tags", .array(tags.map { .string($0) }))) }
    if replaces { members.append(("replace", true)) }
    if isOffline { members.append(("offline", true)) }
    return .object(members)
  }

  private static func trimmed(_ text: String) -> String {
    let isSpace = { (character: Character) in character.isWhitespace }
    let rest = text.drop(while: isSpace)
    return String(rest[..<(rest.lastIndex { !isSpace($0) }.map(rest.index(after:)) ?? rest.startIndex)])
  }
}

/// The members of a JSON object another program wrote. No value is part of what is said about it.
struct ImportedMembers {
  private let members: [(String, JSONValue)]
  private let what: String

  /// - Parameter what: as it is called in what is said.
  init(_ text: String, what: String) throws(CommandFailure) {
    self.what = what
    do throws(JSONViolation) {
      members = try JSONValue(parsing: text).objectValue ?? []
    } catch {
      throw .usage("\(what) is not JSON: \(error.kind) at byte \(error.offset)")
    }
  }

  /// nil if it is not there, or null, or empty.
  func text(_ name: String) throws(CommandFailure) -> String? {
    guard let value = value(name) else { return nil }
    guard let text = value.stringValue else { throw .usage("\(name) of \(what) is not a text") }
    return text.isEmpty ? nil : text
  }

  func requiredSecret(_ name: String) throws(CommandFailure) -> Secret {
    guard let text = try text(name) else { throw .usage("\(what) has no \(name)") }
    return Secret(utf8: text)
  }

  /// A text with spaces between words, or a list of words.
  func words(_ name: String) throws(CommandFailure) -> String? {
    guard let list = value(name)?.stringArrayValue else { return try text(name) }
    return list.isEmpty ? nil : list.joined(separator: " ")
  }

  /// PEM or a JWK; the JWK may be an object.
  func key(_ name: String) throws(CommandFailure) -> Secret? {
    if let value = value(name), value.objectValue != nil { return Secret(value.serialised()) }
    return try text(name).map { Secret(utf8: $0) }
  }

  private func value(_ name: String) -> JSONValue? {
    members.first { $0.0 == name && !$0.1.isNull }?.1
  }
}
