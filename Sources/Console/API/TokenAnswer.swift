import Credentials
import Cryptography
import HTTPWire

/// The two answers that hold a secret: it was asked for.
extension AdminAnswer {
  init(_ token: ExportedToken) {
    var members: [(String, JSONValue)] = [("access_token", .string(token.accessToken.revealedString()))]
    if let scheme = token.scheme { members.append(("token_type", .string(scheme))) }
    if let at = token.expiresAtUnixSeconds { members.append(("expires_at", .number(String(at)))) }
    self.init(revealing: .object(members))
  }

  init(_ fields: [ExportedField]) {
    let list = fields.map { field in
      JSONValue.object([("name", .string(field.name)), ("value", .string(field.value.revealedString()))])
    }
    self.init(revealing: .object([("headers", .array(list))]))
  }
}
