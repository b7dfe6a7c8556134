import Cryptography
import HTTPWire

/// The JSON object a request brings, read strictly: a member nobody asked for, or of another type, is a problem. No value
/// is ever part of what is said about it.
struct RequestContent {
  private let members: [String: JSONValue]

  /// - Parameters:
  ///   - bytes: nothing at all stands for an object without members.
  ///   - names: of the members the operation knows.
  init(_ bytes: [UInt8], knowing names: [String]) throws(AdminProblem) {
    try self.init(bytes.isEmpty ? [:] : Self.parse(bytes), knowing: names, what: "The content")
  }

  private static func parse(_ bytes: [UInt8]) throws(AdminProblem) -> JSONValue {
    do throws(JSONViolation) {
      return try JSONValue(parsing: bytes, limits: JSONLimits(bytesMax: AccountAPI.contentBytesMax, depthMax: 8))
    } catch {
      throw .badRequest("The content is not JSON: \(error.kind) at byte \(error.offset).")
    }
  }

  private init(_ value: JSONValue, knowing names: [String], what: String) throws(AdminProblem) {
    guard let members = value.objectValue else { throw .badRequest("\(what) is not a JSON object.") }
    guard members.allSatisfy({ names.contains($0.0) }) else {
      throw .badRequest(
        "\(what) has an unknown member; "
          + (names.isEmpty ? "none is known here." : "known are \(names.joined(separator: ", "))."))
    }
    self.members = Dictionary(members) { first, _ in first }
  }

  func text(_ name: String) throws(AdminProblem) -> String? {
    guard let value = members[name] else { return nil }
    guard let text = value.stringValue, !text.isEmpty else { throw Self.wrong(name, "a text that is not empty") }
    return text
  }

  func requiredText(_ name: String) throws(AdminProblem) -> String {
    guard let text = try text(name) else { throw .badRequest("The member \(name) is missing.") }
    return text
  }

  func secret(_ name: String) throws(AdminProblem) -> Secret? { try text(name).map { Secret(utf8: $0) } }

  func requiredSecret(_ name: String) throws(AdminProblem) -> Secret { Secret(utf8: try requiredText(name)) }

  /// False if it is not there.
  func flag(_ name: String) throws(AdminProblem) -> Bool {
    guard let value = members[name] else { return false }
    guard let flag = value.boolValue else { throw Self.wrong(name, "true or false") }
    return flag
  }

  /// The words of one text, such as a scope. RFC 6749 §3.3
  func words(_ name: String) throws(AdminProblem) -> [String] {
    try text(name)?.split(separator: " ").map(String.init) ?? []
  }

  func texts(_ name: String) throws(AdminProblem) -> [String] {
    guard let value = members[name] else { return [] }
    guard let texts = value.stringArrayValue, !texts.contains("") else {
      throw Self.wrong(name, "a list of texts that are not empty")
    }
    return texts
  }

  func seconds(_ name: String, max: Int64) throws(AdminProblem) -> Duration? {
    guard let value = members[name] else { return nil }
    guard let number = value.int64Value, (0...max).contains(number) else {
      throw Self.wrong(name, "a number of seconds from 0 to \(max)")
    }
    return .seconds(number)
  }

  func object(_ name: String, knowing names: [String]) throws(AdminProblem) -> RequestContent? {
    guard let value = members[name] else { return nil }
    return try RequestContent(value, knowing: names, what: "The member \(name)")
  }

  private static func wrong(_ name: String, _ what: String) -> AdminProblem {
    .badRequest("The member \(name) is not \(what).")
  }
}
