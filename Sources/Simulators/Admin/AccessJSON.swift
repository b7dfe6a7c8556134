import HTTPWire

/// What the API wants to see, as JSON: `{"kind": "header", "name": "X-Api-Key", "value": "…"}`.
enum AccessJSON {
  static func json(_ access: APIAccess) -> JSONValue {
    switch access {
    case .none: .object([("kind", "none")])
    case .dpop: .object([("kind", "dpop")])
    case .bearer(let tokens): .object([("kind", "bearer"), ("tokens", .strings(tokens))])
    case .basic(let username, let password):
      .object([("kind", "basic"), ("username", .string(username)), ("password", .string(password))])
    case .field(let name, let value):
      .object([("kind", "header"), ("name", .string(name)), ("value", .string(value))])
    case .query(let name, let value):
      .object([("kind", "query"), ("name", .string(name)), ("value", .string(value))])
    }
  }

  static func read(_ value: JSONValue, at path: String) throws(AdminError) -> APIAccess {
    var members = try JSONMembers(value, at: path)
    func text(_ name: String) throws(AdminError) -> String { try required(members.text(name), "\(path).\(name)") }
    let access: APIAccess
    switch try text("kind") {
    case "none": access = .none
    case "dpop": access = .dpop
    case "bearer":
      let tokens = members.take("tokens") ?? []
      access = .bearer(tokens: try required(tokens.stringArrayValue, "\(path).tokens, a list of strings,"))
    case "basic": access = .basic(username: try text("username"), password: try text("password"))
    case "header": access = .field(name: try text("name"), value: try text("value"))
    case "query": access = .query(name: try text("name"), value: try text("value"))
    default: throw AdminError("\(path).kind must be one of: none, dpop, bearer, basic, header, query")
    }
    try members.finish()
    return access
  }
}
