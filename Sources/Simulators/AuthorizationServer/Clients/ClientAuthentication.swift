import Cryptography

/// Finds out which client is asking, by exactly one method. RFC 6749 §2.3, §3.2.1
enum ClientAuthentication {
  static func identify(
    _ head: ReceivedHead, _ form: TokenForm, _ clients: [SimulatedClient]
  ) throws(TokenRefusal) -> SimulatedClient {
    let presented = try presented(head, form)
    let triedBasic = presented.method == .basic
    guard let client = clients.first(where: { $0.id == presented.id }) else {
      throw TokenRefusal(.clientInvalid, "no such client", triedBasic: triedBasic)
    }
    guard client.authentication.contains(presented.method) else {
      throw TokenRefusal(.clientInvalid, "the client may not use \(presented.method.rawValue)", triedBasic: triedBasic)
    }
    guard presented.method == .none || client.secret.map({ Secret(utf8: $0) }) == presented.secret else {
      throw TokenRefusal(.clientInvalid, "the client secret is wrong", triedBasic: triedBasic)
    }
    return client
  }

  private struct Presented {
    var id: String
    var secret: Secret?
    var method: SimulatedClient.Authentication
  }

  private static func presented(_ head: ReceivedHead, _ form: TokenForm) throws(TokenRefusal) -> Presented {
    let fields = head.values(of: "authorization")
    guard fields.count <= 1 else { throw TokenRefusal(.requestInvalid, "more than one Authorization field") }
    if let field = fields.first {
      guard form["client_secret"] == nil else { throw TokenRefusal(.requestInvalid, "two client authentications") }
      guard let (id, secret) = BasicCredentials.parse(field, formEncoded: true) else {
        throw TokenRefusal(.clientInvalid, "Authorization is not Basic with an id and a secret", triedBasic: true)
      }
      guard form["client_id"] == nil || form["client_id"] == id else {
        throw TokenRefusal(.requestInvalid, "client_id is not the authenticated client", triedBasic: true)
      }
      return Presented(id: id, secret: Secret(utf8: secret), method: .basic)
    }
    guard let id = form["client_id"] else { throw TokenRefusal(.clientInvalid, "no client authentication") }
    guard let secret = form["client_secret"] else { return Presented(id: id, method: .none) }
    return Presented(id: id, secret: Secret(utf8: secret), method: .post)
  }
}

/// The credentials in an `Authorization: Basic` field. RFC 7617 §2
enum BasicCredentials {
  /// - Parameter formEncoded: whether both halves are encoded as a form is, as a token endpoint wants it. RFC 6749 §2.3.1
  static func parse(_ field: String, formEncoded: Bool) -> (name: String, password: String)? {
    let parts = field.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "basic",
      let bytes = Base64.decode(parts[1]), let text = String(validating: bytes, as: UTF8.self),
      let colon = text.firstIndex(of: ":")
    else { return nil }
    let (name, password) = (String(text[..<colon]), String(text[text.index(after: colon)...]))
    guard formEncoded else { return (name, password) }
    guard let name = FormText.decode(name), let password = FormText.decode(password) else { return nil }
    return (name, password)
  }
}
