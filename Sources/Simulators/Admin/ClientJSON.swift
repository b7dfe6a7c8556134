import Cryptography
import HTTPWire

/// Who the authorization server knows, as JSON.
enum ClientJSON {
  static var clients: Setting<AuthorizationServerSettings> {
    list("clients", \.clients) { client in
      .object([
        ("id", .string(client.id)), ("secret", .optional(client.secret)), ("keys", .array(client.keys.map(json))),
        ("authentication", .strings(client.authentication.map(\.rawValue).sorted())),
      ])
    } read: { members, path throws(AdminError) in
      SimulatedClient(
        id: try required(members.text("id"), "\(path).id"), secret: try members.text("secret"),
        keys: try keys(&members, path), authentication: try authentication(&members, path))
    }
  }

  static var users: Setting<AuthorizationServerSettings> {
    list("users", \.users) { user in
      .object([("username", .string(user.username)), ("password", .string(user.password))])
    } read: { members, path throws(AdminError) in
      SimulatedUser(
        username: try required(members.text("username"), "\(path).username"),
        password: try required(members.text("password"), "\(path).password"))
    }
  }

  static var assertionIssuers: Setting<AuthorizationServerSettings> {
    list("assertion_issuers", \.assertionIssuers) { issuer in
      .object([("issuer", .string(issuer.issuer)), ("keys", .array(issuer.keys.map(json)))])
    } read: { members, path throws(AdminError) in
      AssertionIssuer(
        issuer: try required(members.text("issuer"), "\(path).issuer"), keys: try keys(&members, path))
    }
  }

  private static func list<Element>(
    _ name: String, _ keyPath: WritableKeyPath<AuthorizationServerSettings, [Element]>,
    show: @escaping (Element) -> JSONValue,
    read: @escaping (inout JSONMembers, _ path: String) throws(AdminError) -> Element
  ) -> Setting<AuthorizationServerSettings> {
    Setting(name: name) {
      .array($0[keyPath: keyPath].map(show))
    } set: { settings, value, path throws(AdminError) in
      guard let values = value.arrayValue else { throw AdminError("\(path) must be a list") }
      var elements: [Element] = []
      for value in values {
        var members = try JSONMembers(value, at: path)
        elements.append(try read(&members, path))
        try members.finish()
      }
      settings[keyPath: keyPath] = elements
    }
  }

  private static func authentication(
    _ members: inout JSONMembers, _ path: String
  ) throws(AdminError) -> Set<SimulatedClient.Authentication>? {
    guard let names = members.take("authentication") else { return nil }
    let methods = (names.stringArrayValue ?? []).compactMap { SimulatedClient.Authentication(rawValue: $0) }
    guard !methods.isEmpty, methods.count == names.arrayValue?.count else {
      let known = SimulatedClient.Authentication.allCases.map(\.rawValue).joined(separator: ", ")
      throw AdminError("\(path).authentication must be a list of: \(known)")
    }
    return Set(methods)
  }

  /// Public keys as they stand in a JWK set. RFC 7517 §5.1
  private static func keys(_ members: inout JSONMembers, _ path: String) throws(AdminError) -> [JWK] {
    guard let value = members.take("keys") else { return [] }
    var keys: [JWK] = []
    for key in try required(value.arrayValue, "\(path).keys, a list of public JWKs,") {
      do { keys.append(try JWK(json: key.serialised())) } catch { throw AdminError("\(path).keys: \(error)") }
    }
    return keys
  }

  private static func json(_ key: JWK) -> JSONValue { JSONValue(strictly: Array(key.json.utf8)) ?? .null }
}
