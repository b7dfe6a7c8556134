import HTTPWire

/// An object of JSON as lines for people: `name  value`.
enum PropertyList {
  /// - Parameter now: Unix seconds; members whose names end in `_at` are moments then, else they are shown as they are.
  static func lines(_ members: [(String, JSONValue)], now: Int64? = nil) -> [String] {
    let width = members.map(\.0.count).max() ?? 0
    return members.map { name, value in
      "\(Help.padded(name.replacing("_", with: " ").printable, width))  \(text(name, value, now: now).printable)"
    }
  }

  private static func text(_ name: String, _ value: JSONValue, now: Int64?) -> String {
    if let now, name.hasSuffix("_at"), let moment = value.int64Value { return Quantity.moment(moment, now: now) }
    if let list = value.stringArrayValue { return list.isEmpty ? "-" : list.joined(separator: ", ") }
    switch value {
    case .string(let text), .number(let text): return text
    case .bool(let flag): return flag ? "yes" : "no"
    case .null: return "-"
    case .array, .object: return String(decoding: value.serialised(), as: UTF8.self)
    }
  }
}
