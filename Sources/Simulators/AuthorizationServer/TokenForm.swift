import HTTPWire

/// The form a client sends to the token endpoint. RFC 6749 §3.2
struct TokenForm {
  /// These may be there more than once. RFC 8707 §2
  private static let repeatable: Set<String> = ["resource", "audience"]

  private let pairs: [(name: String, value: String)]

  /// - Throws: ``TokenRefusal`` for another content type, a form that can't be decoded, or a parameter given twice.
  init(_ head: ReceivedHead, _ body: ReceivedBody) throws(TokenRefusal) {
    let type = head.values(of: "content-type").first ?? ""
    let essence = type.prefix { $0 != ";" && $0 != " " }.lowercased()
    guard essence == "application/x-www-form-urlencoded" else {
      throw TokenRefusal(.requestInvalid, "the body is not a form")
    }
    guard body.isComplete, let decoded = FormURLEncoded.decode(body.kept) else {
      throw TokenRefusal(.requestInvalid, "the form is too large or badly encoded")
    }
    var pairs: [(name: String, value: String)] = []
    for (name, value) in decoded {
      guard Self.repeatable.contains(name) || !pairs.contains(where: { $0.name == name }) else {
        throw TokenRefusal(.requestInvalid, "a parameter is there twice")
      }
      // A parameter without a value is as if it was not there. RFC 6749 §3.2
      if !value.isEmpty { pairs.append((name, value)) }
    }
    self.pairs = pairs
  }

  subscript(_ name: String) -> String? { pairs.first { $0.name == name }?.value }

  func all(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }
}
