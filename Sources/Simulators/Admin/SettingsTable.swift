import HTTPWire

/// One setting: its name in JSON, how it is read and how it is written.
struct Setting<Root> {
  let name: String
  let get: (Root) -> JSONValue
  let set: (inout Root, JSONValue, _ path: String) throws(AdminError) -> Void
}

/// The settings of one object; what it does not name is refused.
struct SettingsTable<Root> {
  let settings: [Setting<Root>]

  init(_ settings: [Setting<Root>]) { self.settings = settings }

  func json(_ root: Root) -> JSONValue { .object(settings.map { ($0.name, $0.get(root)) }) }

  /// Changes what `value` names and leaves the rest.
  func apply(_ value: JSONValue, to root: inout Root, at path: String) throws(AdminError) {
    guard let members = value.objectValue else { throw AdminError("\(path) must be an object") }
    for (name, value) in members {
      guard let setting = settings.first(where: { $0.name == name }) else {
        throw AdminError("\(path) has no member \"\(name)\"")
      }
      try setting.set(&root, value, "\(path).\(name)")
    }
  }
}

// MARK: The kinds of settings

extension Setting {
  static func integer(
    _ name: String, _ path: WritableKeyPath<Root, Int>, in range: ClosedRange<Int64> = 0...Int64(Int32.max)
  ) -> Setting {
    Setting(name: name) {
      .integer($0[keyPath: path])
    } set: { root, value, where_ throws(AdminError) in
      root[keyPath: path] = try Self.number(value, in: range, where_)
    }
  }

  static func integer(_ name: String, _ path: WritableKeyPath<Root, Int?>) -> Setting {
    Setting(name: name) {
      .optional($0[keyPath: path])
    } set: { root, value, where_ throws(AdminError) in
      root[keyPath: path] = value.isNull ? nil : try Self.number(value, in: 0...Int64(Int32.max), where_)
    }
  }

  static func flag(_ name: String, _ path: WritableKeyPath<Root, Bool>) -> Setting {
    Setting(name: name) {
      .bool($0[keyPath: path])
    } set: { root, value, where_ throws(AdminError) in
      guard let flag = value.boolValue else { throw AdminError("\(where_) must be true or false") }
      root[keyPath: path] = flag
    }
  }

  static func text(_ name: String, _ path: WritableKeyPath<Root, String?>) -> Setting {
    Setting(name: name) {
      .optional($0[keyPath: path])
    } set: { root, value, where_ throws(AdminError) in
      guard value.isNull || value.stringValue != nil else { throw AdminError("\(where_) must be a string or null") }
      root[keyPath: path] = value.stringValue
    }
  }

  static func texts(_ name: String, _ path: WritableKeyPath<Root, [String]>) -> Setting {
    Setting(name: name) {
      .strings($0[keyPath: path])
    } set: { root, value, where_ throws(AdminError) in
      guard let texts = value.stringArrayValue else { throw AdminError("\(where_) must be a list of strings") }
      root[keyPath: path] = texts
    }
  }

  static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, _ path: WritableKeyPath<Root, Choice>
  ) -> Setting {
    Setting(name: name) {
      .string($0[keyPath: path].rawValue)
    } set: { root, value, where_ throws(AdminError) in
      guard let choice = value.stringValue.flatMap({ Choice(rawValue: $0) }) else {
        let names = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw AdminError("\(where_) must be one of: \(names)")
      }
      root[keyPath: path] = choice
    }
  }

  static func object<Part>(
    _ name: String, _ path: WritableKeyPath<Root, Part>, _ table: SettingsTable<Part>
  ) -> Setting {
    Setting(name: name) {
      table.json($0[keyPath: path])
    } set: { root, value, where_ throws(AdminError) in
      try table.apply(value, to: &root[keyPath: path], at: where_)
    }
  }

  private static func number(
    _ value: JSONValue, in range: ClosedRange<Int64>, _ path: String
  ) throws(AdminError) -> Int {
    guard let number = value.int64Value, range.contains(number) else {
      throw AdminError("\(path) must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(number)
  }
}
