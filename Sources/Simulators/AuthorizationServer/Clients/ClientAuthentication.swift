import Cryptography

/// Finds out which client is asking, by exactly one method. RFC 6749 §2.3, §3.2.1
struct ClientAuthentication {
  /// RFC 7523 §2.2
  static let assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

  let state: SimulationState
  let clients: [SimulatedClient]

  func identify(_ head: ReceivedHead, _ form: TokenForm) throws(TokenRefusal) -> SimulatedClient {
    let presented = try presented(head, form)
    let triedBasic = presented.method == .basic
    guard let client = clients.first(where: { $0.id == presented.id }) else {
      throw TokenRefusal(.clientInvalid, "no such client", triedBasic: triedBasic)
    }
    guard client.authentication.contains(presented.method) else {
      throw TokenRefusal(.clientInvalid, "the client may not use \(presented.method.rawValue)", triedBasic: triedBasic)
    }
    switch presented.proof {
    case .nothing: break
    case .secret(let secret):
      guard client.secret.map({ Secret(utf8: $0) }) == secret else {
        throw TokenRefusal(.clientInvalid, "the client secret is wrong", triedBasic: triedBasic)
      }
    case .assertion(let assertion): try judge(assertion, of: client)
    }
    return client
  }

  private struct Presented {
    var id: String
    var method: SimulatedClient.Authentication
    var proof = Proof.nothing
  }

  private enum Proof {
    case nothing
    case secret(Secret)
    case assertion(SignedAssertion)
  }

  private func presented(_ head: ReceivedHead, _ form: TokenForm) throws(TokenRefusal) -> Presented {
    let fields = head.values(of: "authorization")
    guard fields.count <= 1 else { throw TokenRefusal(.requestInvalid, "more than one Authorization field") }
    let hasAssertion = form["client_assertion"] != nil || form["client_assertion_type"] != nil
    guard [fields.first != nil, form["client_secret"] != nil, hasAssertion].filter({ $0 }).count <= 1 else {
      throw TokenRefusal(.requestInvalid, "two client authentications")
    }
    if let field = fields.first { return try basic(field, form) }
    if hasAssertion { return try asserted(form) }
    guard let id = form["client_id"] else { throw TokenRefusal(.clientInvalid, "no client authentication") }
    guard let secret = form["client_secret"] else { return Presented(id: id, method: .none) }
    return Presented(id: id, method: .post, proof: .secret(Secret(utf8: secret)))
  }

  private func basic(_ field: String, _ form: TokenForm) throws(TokenRefusal) -> Presented {
    guard let (id, secret) = BasicCredentials.parse(field, formEncoded: true) else {
      throw TokenRefusal(.clientInvalid, "Authorization is not Basic with an id and a secret", triedBasic: true)
    }
    guard form["client_id"] == nil || form["client_id"] == id else {
      throw TokenRefusal(.requestInvalid, "client_id is not the authenticated client", triedBasic: true)
    }
    return Presented(id: id, method: .basic, proof: .secret(Secret(utf8: secret)))
  }

  /// RFC 7523 §2.2, §3: issuer and subject are the client.
  private func asserted(_ form: TokenForm) throws(TokenRefusal) -> Presented {
    guard form["client_assertion_type"] == Self.assertionType, let compact = form["client_assertion"] else {
      throw TokenRefusal(.requestInvalid, "client_assertion and its type belong together")
    }
    let assertion: SignedAssertion
    do { assertion = try SignedAssertion(compact: compact) } catch { throw TokenRefusal(.clientInvalid, error.detail) }
    guard let id = assertion["sub"], assertion["iss"] == id else {
      throw TokenRefusal(.clientInvalid, "iss and sub of the client assertion are not the same client")
    }
    guard form["client_id"] == nil || form["client_id"] == id else {
      throw TokenRefusal(.requestInvalid, "client_id is not the authenticated client")
    }
    return Presented(
      id: id, method: assertion.isSymmetric ? .secretJWT : .privateKeyJWT, proof: .assertion(assertion))
  }

  /// The signature comes first, so that nobody else can use up a `jti`.
  private func judge(_ assertion: SignedAssertion, of client: SimulatedClient) throws(TokenRefusal) {
    let isSigned =
      assertion.isSymmetric
      ? client.secret.map(assertion.isSigned(with:)) == true : assertion.isSigned(byOneOf: client.keys)
    guard isSigned else { throw TokenRefusal(.clientInvalid, "the client assertion is not signed by the client") }
    do { try AssertionGate(state: state).admit(assertion, needsIdentifier: true) } catch {
      throw TokenRefusal(.clientInvalid, error.detail)
    }
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
