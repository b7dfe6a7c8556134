import Foundation
import Testing

@testable import Configuration

@Suite struct `The JSON schema` {
  private typealias Object = [String: Any]

  private func definitions() throws -> Object {
    let schema = try JSONSerialization.jsonObject(with: Data(try ConfigFolder.bytes("proofd.schema.json")))
    return try #require((schema as? Object)?["$defs"] as? Object)
  }

  @Test func `has the keys the loader knows and no others`() throws {
    let definitions = try definitions()
    for section in KeyTable.all {
      let definition = try #require(definitions[section.name] as? Object, "\(section.name)")
      let properties = try #require(definition["properties"] as? Object, "\(section.name)")
      #expect(Set(properties.keys) == Set(section.known), "\(section.name)")
      #expect(definition["additionalProperties"] as? Bool == false, "\(section.name)")
    }
    let mappings = definitions.filter { ($0.value as? Object)?["additionalProperties"] as? Bool == false }
    #expect(Set(mappings.keys) == Set(KeyTable.all.map(\.name)))
  }

  @Test func `knows the same reserved parameters`() throws {
    let parameters = try #require(try definitions()["parameters"] as? Object)
    let not = try #require((parameters["propertyNames"] as? Object)?["not"] as? Object)
    #expect(Set(try #require(not["enum"] as? [String])) == TokenTarget.reservedParameters)
  }

  /// Each `default` of the schema, written into the file, changes nothing.
  @Test func `has the loader's defaults`() throws {
    let routes = "routes: {r: {upstream: \"https://api.example\", credential: c, %}}\n"
    let least = "provider: oidc, issuer: \"https://id.example\", client_id: x"
    let client = "credentials: {c: {\(least), dpop: true}}\n"
    let signed = "subject: s, private_key: {env: K}"
    let token = "provider: static, token: {file: /t}"
    let places = [
      "document": "routes: {}\n%\n", "limits": "routes: {}\nlimits: {%}\n", "timeouts": "routes: {}\ntimeouts: {%}\n",
      "store": "routes: {}\nstore: {%}\n", "route": client + routes,
      "signedAssertion":
        "routes: {}\ncredentials: {c: {\(least), grant: jwt_bearer, signed_assertion: {\(signed), %}}}\n",
      "oidcCredential": routes.replacing(", %", with: "") + "credentials: {c: {\(least), %}}\n",
      "staticCredential": routes.replacing(", %", with: "") + "credentials: {c: {\(token), %}}\n",
    ]
    var count = 0
    for (name, place) in places {
      let definition = try #require(try definitions()[name] as? Object)
      for (key, property) in try #require(definition["properties"] as? Object) {
        guard let value = (property as? Object)?["default"] else { continue }
        let json = String(
          decoding: try JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed), as: UTF8.self)
        let plain = ["replay", "timeout"].contains { key.contains($0) } || ["limits", "timeouts"].contains(name)
        let text = plain || ["reread", "lifetime"].contains(key) ? json.replacing("\"", with: "") : json
        // Keys that say nothing without others.
        let beside = [
          "allow_bearer": "dpop: false, %", "subject_token_type": "grant: token_exchange, subject_token: {env: T}, %",
        ]
        let written = place.replacing("%", with: beside[key] ?? "%")
        let without = try configuration(written.replacing(", %", with: "").replacing("%", with: ""))
        let with = try configuration(written.replacing("%", with: "\(key): \(text)"))
        #expect(with == without, "\(name).\(key)")
        count += 1
      }
    }
    #expect(count > 25)
  }

  /// The cases that `Tests/Interop/check_schema.py` holds against the schema.
  @Test func `accepts what the loader accepts`() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Interop/schema_cases.json")
      .standardized
    let cases = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [Object])
    #expect(cases.count > 90)
    let client: Object = ["provider": "oidc", "issuer": "https://id.example", "client_id": "x"]
    for each in cases {
      let machine = client.merging(["grant": "client_credentials"]) { $1 }
      let document: Object = [
        "credentials": ["login": client, "machine": machine, "c": each["credential"] ?? client],
        "routes": ["r": ["upstream": "https://api.example", "credential": each["reference"] ?? "c"]],
        "store": each["store"] ?? Object(),
      ]
      let text = String(
        decoding: try JSONSerialization.data(withJSONObject: document, options: .withoutEscapingSlashes), as: UTF8.self)
      let isValid = try #require(each["valid"] as? Bool)
      #expect((parse(text).configuration != nil) == isValid, "\(each): \(problems(text))")
    }
  }

  @Test func `and the tables promise nothing twice`() {
    for section in KeyTable.all {
      #expect(Set(section.known).count == section.known.count, "\(section.name)")
      #expect(Set(section.known).isDisjoint(with: section.later), "\(section.name)")
    }
  }
}

@Suite struct `The tables of keys` {
  @Test func `are all shown in the example`() throws {
    let words = String(decoding: try ConfigFolder.bytes("proofd.example.yaml"), as: UTF8.self)
      .split { !$0.isLetter && $0 != "_" && $0 != ":" }
    let missing = KeyTable.all.flatMap(\.known).filter { !words.contains("\($0):") }
    #expect(missing == [])
  }

  @Test(arguments: KeyTable.all.flatMap { section in section.later.map { (section.name, $0) } })
  func `say of what a later version brings that this one can't do it`(_ section: String, _ key: String) {
    let text =
      switch section {
      case "document": "\(key): x"
      case "oidcCredential": "credentials: {c: {provider: oidc, \(key): x}}"
      case "staticCredential": "credentials: {c: {provider: static, \(key): x}}"
      case "endpoints": "credentials: {c: {provider: oidc, endpoints: {\(key): x}}}"
      case "issuerTLS": "credentials: {c: {provider: oidc, tls: {\(key): x}}}"
      case "route": "routes: {r: {\(key): x}}"
      default: "routes: {r: {tls: {\(key): x}}}"
      }
    #expect(problems(text).contains { $0.hasSuffix("\(key): not supported by this version of proofd") })
  }

  @Test(arguments: LaterVersions.providers) func `say the same of values`(_ provider: String) {
    #expect(
      problems(credential("provider: \(provider)")).contains {
        $0.contains("credentials.c.provider: \"\(provider)\" is not supported by this version of proofd; it knows ")
      })
  }
}
