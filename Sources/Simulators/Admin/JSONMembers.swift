import HTTPWire

/// The members of a JSON object, each asked for by name and type; what nobody asked for is a mistake.
struct JSONMembers {
  private let path: String
  private var rest: [(String, JSONValue)]

  init(_ value: JSONValue, at path: String) throws(AdminError) {
    guard let members = value.objectValue else { throw AdminError("\(path) must be an object") }
    self.path = path
    rest = members
  }

  /// Takes a member; nil if it is absent or null.
  mutating func take(_ name: String) -> JSONValue? {
    guard let index = rest.firstIndex(where: { $0.0 == name }) else { return nil }
    let value = rest.remove(at: index).1
    return value.isNull ? nil : value
  }

  mutating func text(_ name: String) throws(AdminError) -> String? {
    guard let value = take(name) else { return nil }
    guard let text = value.stringValue else { throw AdminError("\(path).\(name) must be a string") }
    return text
  }

  mutating func integer(_ name: String) throws(AdminError) -> Int? {
    guard let value = take(name) else { return nil }
    guard let number = value.int64Value, number >= 0, number <= Int64(Int32.max) else {
      throw AdminError("\(path).\(name) must be a number from 0 to \(Int32.max)")
    }
    return Int(number)
  }

  /// Seconds since 1970, of any sign.
  mutating func moment(_ name: String) throws(AdminError) -> Int64? {
    guard let value = take(name) else { return nil }
    guard let seconds = value.int64Value else { throw AdminError("\(path).\(name) must be seconds since 1970") }
    return seconds
  }

  mutating func flag(_ name: String) throws(AdminError) -> Bool? {
    guard let value = take(name) else { return nil }
    guard let flag = value.boolValue else { throw AdminError("\(path).\(name) must be true or false") }
    return flag
  }

  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, as _: Choice.Type
  ) throws(AdminError) -> Choice? {
    guard let text = try text(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      throw AdminError("\(path).\(name) must be one of: \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }

  /// Field lines as `[["Name", "value"], …]`, without the bytes that would end a line.
  mutating func fields(_ name: String) throws(AdminError) -> [HTTPField] {
    guard let value = take(name) else { return [] }
    let problem = AdminError("\(path).\(name) must be a list of [\"Name\", \"value\"] without control characters")
    guard let pairs = value.arrayValue else { throw problem }
    var fields: [HTTPField] = []
    for pair in pairs {
      guard let parts = pair.stringArrayValue, parts.count == 2,
        parts.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F } })
      else { throw problem }
      fields.append(HTTPField(name: parts[0], value: parts[1]))
    }
    return fields
  }

  /// - Throws: if a member was never asked for.
  func finish() throws(AdminError) {
    if let unknown = rest.first { throw AdminError("\(path) has no member \"\(unknown.0)\"") }
  }
}

/// A value that must be there.
func required<Value>(_ value: Value?, _ what: String) throws(AdminError) -> Value {
  guard let value else { throw AdminError("\(what) is needed") }
  return value
}
