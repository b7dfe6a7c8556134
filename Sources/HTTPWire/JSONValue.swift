/// A JSON text as a value. Numbers stay text, so that nothing is lost; members keep their order.
///
/// ```swift
/// let metadata = try JSONValue(parsing: response.body)
/// let issuer = metadata["issuer"]?.stringValue
/// ```
/// RFC 8259
package enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  /// The number as written.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])

  /// Objects are equal when they have the same members, in any order.
  package static func == (one: JSONValue, other: JSONValue) -> Bool {
    switch (one, other) {
    case (.null, .null): return true
    case (.bool(let a), .bool(let b)): return a == b
    case (.number(let a), .number(let b)): return a == b
    case (.string(let a), .string(let b)): return a == b
    case (.array(let a), .array(let b)): return a == b
    case (.object(let a), .object(let b)):
      let (sortedA, sortedB) = (a.sorted { $0.0 < $1.0 }, b.sorted { $0.0 < $1.0 })
      return sortedA.elementsEqual(sortedB) { $0.0 == $1.0 && $0.1 == $1.1 }
    default: return false
    }
  }

  /// The member called `name` of an object; the first, where duplicates were allowed.
  package subscript(name: String) -> JSONValue? {
    objectValue?.first { $0.0 == name }?.1
  }

  package var isNull: Bool { self == .null }

  package var boolValue: Bool? {
    if case .bool(let value) = self { return value }
    return nil
  }

  package var stringValue: String? {
    if case .string(let value) = self { return value }
    return nil
  }

  /// A number without fraction and exponent that fits.
  package var int64Value: Int64? {
    if case .number(let text) = self { return Int64(text) }
    return nil
  }

  package var doubleValue: Double? {
    if case .number(let text) = self { return Double(text) }
    return nil
  }

  package var arrayValue: [JSONValue]? {
    if case .array(let elements) = self { return elements }
    return nil
  }

  package var objectValue: [(String, JSONValue)]? {
    if case .object(let members) = self { return members }
    return nil
  }

  /// The strings of an array that holds nothing else.
  package var stringArrayValue: [String]? {
    guard let elements = arrayValue else { return nil }
    let strings = elements.compactMap(\.stringValue)
    return strings.count == elements.count ? strings : nil
  }

  /// Without whitespace.
  package func serialised() -> [UInt8] {
    var out = ByteBuffer()
    JSONWriter.append(self, to: &out)
    return out.copy()
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(integerLiteral value: Int64) { self = .number(String(value)) }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }
  package init(nilLiteral: ()) { self = .null }
}
