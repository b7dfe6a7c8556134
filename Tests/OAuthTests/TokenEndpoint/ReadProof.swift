import Cryptography
import HTTPWire

/// The claims of a proof whose signature verifies with the key it embeds.
func readProof(_ compact: String) throws -> (claims: JSONValue, key: JWK?) {
  let signature = try JSONWebSignature(compact: compact)
  if let key = signature.embeddedKey { try signature.verify(with: key, algorithms: [.es256]) }
  return (try JSONValue(parsing: signature.payload), signature.embeddedKey)
}

extension HTTPRequest {
  func field(_ name: String) -> String? {
    let found = fields.filter { ASCII.equalCaseInsensitively($0.name, name) }
    return found.count == 1 ? found[0].value : nil
  }

  var form: [String: [String]] {
    let pairs = body.flatMap { FormURLEncoded.decode($0) } ?? []
    return Dictionary(grouping: pairs, by: \.0).mapValues { $0.map(\.1) }
  }
}

extension HTTPResponse {
  init(_ status: Int, _ body: String, _ fields: [(String, String)] = []) {
    self.init(status: status, fields: fields.map { HTTPField(name: $0.0, value: $0.1) }, body: Array(body.utf8))
  }
}
